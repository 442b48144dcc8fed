"""The fine-tuning tasks: how each is read, encoded, scored and written.

Only scripts import them. Each module whose name ends in `_setup` creates a task
from the flags of its script.

    classifier_setup.py: creates one of the next two, as --task_name selects
    classifier.py: labels of texts
    embedding.py: vectors of texts
    ner_setup.py: reads the sets of run_ner.py, and creates the next task
    ner.py: tags of words
    squad_setup.py: reads the sets of run_squad.py, and creates the next task
    squad.py: answers
    swag.py: choices, for run_swag.py
"""
