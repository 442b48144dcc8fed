"""Trains and evaluates models on any task (see docs/architecture.md)."""
