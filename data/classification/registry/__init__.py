"""Names the tasks of --task_name, and holds the processors of one of them.

Read the modules in this order:

    table_task_specs.py: the values of --task_name, and what each says of the
        task of a user's own tables
    classification_processors.py: the processors of a task, one or two
"""
