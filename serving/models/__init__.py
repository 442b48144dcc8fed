"""Exported models as Python calls them: texts in, dicts out.

The modules, the one to read first at the top:

    text_model.py: `TextModel`, which `serving.load` creates
    task_methods.py: its methods, one for each text task
    model_cache.py: loads a model once in a process
    checksums.py: tells the files of one export from those of another
"""
