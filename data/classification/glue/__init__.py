"""Reads the tasks of GLUE, and XNLI, from the files of any mirror.

Read the modules in this order:

    glue_tasks.py: what each task consists of
    glue_processor.py: the sets, the labels and the metrics of a task
    glue_sets.py: `GlueSets`, which reads the files of a task
    glue_layouts.py: the columns and labels in the files of any mirror
"""
