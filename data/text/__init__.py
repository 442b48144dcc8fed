"""Converts text to WordPieces, in Python and inside a TensorFlow graph."""
