"""The text tasks of exported models: from a request to a reply, in Python.

docs/common_changes.md says how to add one.

SavedModels do most text tasks too: exporting/classify_signatures.py is the
twin of classify.py, and so on. A change to one needs the same change to the
other. tests/serving/text_tasks/test_text_task_twins.py compares them.

What a text task is, and how a model gets its requests:

    request_fields.py: the fields of requests, and the errors of wrong ones
    loaded_export.py: `LoadedExport`, an engine with its tokenizer, its lengths
        and the head of the model, such as the `ClassifierHead` of classify.py
    text_task.py: `TextTask`, and the options of its replies
    text_task_registry.py: lists the text tasks, and which of them a model
        supports
    export_reading.py: reads a `LoadedExport` and its text tasks from a folder
    asking.py: `ask` and `ask_in_slices`, from requests to replies

The text tasks:

    tokenize.py: turns a text or a pair into WordPieces, which the network reads
    classify.py: labels of texts, and passages by how well they match a query
    embed.py: vectors
    tag.py: tags of words
    answer.py: answers to questions
    pretrained.py: masked words and next sentences
"""
