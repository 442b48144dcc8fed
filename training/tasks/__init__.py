"""The fine-tuning tasks: how each is read, encoded, scored and written.

Only scripts import them. Each module whose name ends in `_setup` creates a task
from the flags of its script.

    classifier_setup.py: creates one of the next two, as --task_name selects
    classifier.py: labels of texts
    classifier_settings.py: what is recorded of the labels and of the texts
    embedding.py: vectors of texts
    prediction_files.py: the predictions of these two
    ner_setup.py: reads the sets of run_ner.py, and creates the next task
    ner.py: tags of words
    squad_setup.py: reads the sets of run_squad.py, and creates the next task
    squad.py: answers
    swag.py: choices, for run_swag.py
"""
