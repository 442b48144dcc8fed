"""The text tasks of exported models: from a request to a reply, in Python.

docs/common_changes.md says how to add one.

SavedModels answer most tasks too: exporting/signatures/classify_graph.py is the
twin of classify.py, and so on. A change to one needs the same change to the
other. tests/serving/text_tasks/test_text_task_twins.py compares them.

    text_task.py: `TextTask`
    registry.py: lists the tasks, and says which of them a model supports
    loaded_model.py: `LoadedModel`, an engine with a tokenizer
    reply_options.py: the options that change replies
    asking.py: asks a model by a text task, in steps
    request_fields.py: the fields of requests, and the texts in them
    rounding.py: rounds the numbers of replies
    request_lists.py: several requests from one with lists of texts
    pairs.py: functions that tasks over a text or a pair share
    tokenize.py: the WordPieces of a text
    classify.py: labels of texts
    rerank.py: passages by how well they match a query
    embed.py: vectors
    tag.py: tags of words
    answer.py: answers to questions
    pretrained.py: masked words and next sentences
"""
