"""The fine-tuning tasks: how each is read, encoded, scored and written.

Only scripts import them.

    classifier.py: labels of texts, for run_classifier.py
    embedding.py: vectors of texts, for run_classifier.py
    prediction_files.py: the predictions of these two
    ner.py: tags of words, for run_ner.py
    squad.py: answers, for run_squad.py
    swag.py: choices, for run_swag.py
"""
