"""The fine-tuning tasks: how each is read, encoded, scored and written.

Only scripts import them.

    classifier_setup.py: creates one of the next two, as --task_name selects
    classifier.py: labels of texts
    classifier_settings.py: what is recorded of the labels and of the texts
    embedding.py: vectors of texts
    prediction_files.py: the predictions of these two
    ner.py: tags of words, for run_ner.py
    squad.py: answers, for run_squad.py
    swag.py: choices, for run_swag.py
"""
