"""Additional command-line tools, run as `python -m tools.NAME`."""
