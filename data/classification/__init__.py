"""Sentences, pairs and choices with a label."""
