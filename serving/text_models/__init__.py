"""Exported models as Python calls them: texts in, dicts out.

The modules, the one to read first at the top:

    text_model.py: `TextModel`, which `serving.load` creates
    task_methods.py: the methods of `TextModel`, one for each text task
    export_reading.py: reads the folder of an export
    model_cache.py: loads a model once in a process, also from pickles
    checksums.py: computes checksums, which tell the files of two exports apart
"""
