"""The fine-tuning tasks: how each is read, encoded, scored and written.

Only scripts import them.

    classifier_setup.py: creates one of the next two, as --task_name selects
    classifier.py: labels of texts
    embedding.py: vectors of texts
    ner.py: tags of words, for run_ner.py
    squad.py: answers, for run_squad.py
    swag.py: choices, for run_swag.py
"""
