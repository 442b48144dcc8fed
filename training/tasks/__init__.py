"""Tasks from their flags to their results; task.py is their interface."""
