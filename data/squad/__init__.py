"""Reads SQuAD's questions, cuts windows, decodes and scores answers."""
