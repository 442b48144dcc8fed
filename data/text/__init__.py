"""Text to WordPieces: in Python, and the same in a graph."""
