"""Parses the flags, and formats the logs and errors, of all scripts."""
