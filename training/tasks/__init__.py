"""A task from its flags to its results."""
