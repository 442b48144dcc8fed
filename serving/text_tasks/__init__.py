"""The text tasks of exported models: from a request to a reply, in Python.

docs/common_changes.md says how to add one.

SavedModels do most text tasks too: exporting/classify_signatures.py is the
twin of classify.py, and so on. A change to one needs the same change to the
other. tests/serving/text_tasks/test_text_task_twins.py compares them.

    text_task.py: `TextTask`, and the options that change replies
    text_task_registry.py: lists the text tasks, and says which of them a model
        supports
    text_engine.py: `TextEngine`, an engine with its tokenizer, its lengths and
        the head of the model, such as the `ClassifierHead` of classify.py
    export_reading.py: reads the `TextEngine` and the settings of an export
    asking.py: `ModelAsker`, which gets the replies of a model, in steps
    request_fields.py: the fields of requests, and the texts in them
    pairs.py: turns a text or a pair into an input of the network
    tokenize.py: WordPieces, as the network reads them
    classify.py: labels of texts, and passages by how well they match a query
    embed.py: vectors
    tag.py: tags of words
    answer.py: answers to questions
    pretrained.py: masked words and next sentences
"""
