"""Commands beside the scripts: `python -m tools.NAME`."""
