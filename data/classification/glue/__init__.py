"""Reads the tasks of GLUE, and XNLI, from the files of any mirror.

Read the modules in this order:

    glue_tasks.py: what each task consists of
    glue_processor.py: the sets and labels of a task, which it reads from files
    glue_layouts.py: the columns and labels in the files of any mirror
"""
