"""A task from its flags to its results; task.py says what a task is."""
