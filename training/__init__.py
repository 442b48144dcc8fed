"""Training, evaluation and export of any task."""
