"""Reads texts to classify, converts them to inputs, and scores predictions."""
