"""Exports the heads of models: a module for each kind of model.

Each module ends with the `HeadExporter` of its kind: the function that creates
the signatures of a SavedModel, and the function that adds the head to an ONNX
graph. registry.py lists the exporters.

The signatures in classify.py do in a graph what text_tasks/classify.py does in
Python, and so on. A change to one needs the same change to its twin, and
tests/serving/text_tasks/test_text_task_twins.py compares them.

    head_exporter.py: `HeadExporter`, one in each module
    registry.py: the exporter of each class of models
    classify.py: labels of texts
    embed.py: vectors. An encoder has no head
    tag.py: tags of words
    answer.py: answers to questions
    pretrained.py: masked words and next sentences
    multiple_choice.py: probabilities of choices, from ids only
"""
