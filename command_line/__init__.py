"""Parses the flags of all scripts, and shows progress, logs and errors."""
