"""Converts text and files to tensors, and predictions to files."""
