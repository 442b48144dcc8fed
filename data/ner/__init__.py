"""Named entities: reads tagged words, cuts windows, decodes and scores tags."""
