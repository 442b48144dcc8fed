"""Named entities: tagged words, windows, scores."""
