"""Questions about passages: reading, windows, decoding, scores."""
