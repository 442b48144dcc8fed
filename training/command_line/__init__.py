"""Flags, log lines, errors and child processes of every script."""
