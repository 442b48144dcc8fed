"""Reads the tasks of GLUE, and XNLI, from the files of any mirror.

Read the modules in this order:

    glue_task_spec.py: what a task consists of
    glue_tasks.py: lists the tasks
    glue_processor.py: reads the sets of a task
    glue_layouts.py: the columns and labels in the files of any mirror
    glue_submissions.py: predicted labels to the files of GLUE's site
"""
