"""Flags, log lines and error messages that are common to all scripts."""
