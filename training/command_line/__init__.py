"""Flags, log lines and errors of every script."""
