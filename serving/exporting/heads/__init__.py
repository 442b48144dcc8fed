"""Exports the heads of models: a module for each kind of model.

Each module ends with the `HeadExporter` of its kind: the function that creates
the signatures of a SavedModel, and the function that adds the head to an ONNX
graph. exporter_registry.py lists the exporters.

The signatures in classify_exporter.py do in a graph what text_tasks/classify.py
does in Python, and so on. A change to one needs the same change to its twin,
and tests/serving/text_tasks/test_text_task_twins.py compares them.

    head_exporter.py: `HeadExporter`, one in each module
    exporter_registry.py: the exporter of each class of models
    classify_exporter.py: labels of texts
    embed_exporter.py: vectors. An encoder has no head
    tag_exporter.py: tags of words
    answer_exporter.py: answers to questions
    pretrained_exporter.py: masked words and next sentences
    multiple_choice_exporter.py: probabilities of choices, from ids only
"""
