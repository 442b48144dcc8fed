"""Converts text and files to the network's inputs, and predictions to files."""
