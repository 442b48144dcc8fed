"""What an export does because of its head: a module for each kind of model.

tag.py defines `create_tag_signatures`, which returns the ExportSignatures of
one kind of model. The modules of other kinds define such a function too.

classify.py is the twin of text_tasks/classify.py, which does in Python what
classify.py does in a graph, and so on: a change to one needs the same change to
the other, and tests/serving/text_tasks/test_text_task_twins.py compares them.

    classify.py: labels of texts
    embed.py: vectors
    tag.py: tags of words
    answer.py: answers to questions
    pretrained.py: masked words and next sentences
"""
