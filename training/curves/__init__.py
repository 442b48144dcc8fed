"""Draws the histories of runs: an HTML page without TensorFlow, or a PNG."""
