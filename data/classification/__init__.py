"""Reads, encodes and scores texts, pairs of texts and choices to classify."""
