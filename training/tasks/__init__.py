"""The fine-tuning tasks: how each is read, encoded, scored and written.

Only scripts import them.

    classifier.py: labels of texts, for run_classifier.py
    embedding.py: vectors of texts, for run_classifier.py too
    ner.py: tags of words, for run_ner.py
    squad.py: answers, for run_squad.py
    swag.py: choices, for run_swag.py

The `main` of a script lists the same stages for each task. A script that must
know or check its sets before TensorFlow is loaded has its stages for that in a
module of their own:

    classifier_setup.py: `open_data_file` and `decide_columns`, which open
        --data_file and find its columns, then `open_processor` and
        `load_task`, which chooses between the first two tasks
    ner_setup.py: `open_sets` and `load_task`
    squad_setup.py: `open_sets` and `load_task`

After `load_starting_point`, `open_sets` creates the sets, or `open_processor`
what knows a classification's sets, labels and metrics. If the script has
--data_file, `decide_by_rows` of training/preparation/ lets its rows decide open
flags. Then `load_task` reads what must be known, or checked, and creates the
task. run_swag.py has no such stages, because its task reads each set when it is
encoded.
"""
