"""Training, evaluation and export of any task.

From the top down: tasks/ (a task from its flags to its results), steps/ (one
run), outputs/ (what it writes), optimizers/, command_line/, and on the shelf
what several of them use.
"""
