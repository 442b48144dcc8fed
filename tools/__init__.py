"""Additional commands, run as `python -m tools.NAME`."""
