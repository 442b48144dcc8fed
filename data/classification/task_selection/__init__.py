"""Selects the processors of the task that --task_name or --processor names.

Read the modules in this order:

    google_code.py: runs a user's class for Google's code
    user_processor.py: reads sets with that class
    classification_sets.py: the sets of a task, by name, from one processor or
        from two
"""
