"""Reads SQuAD's questions, cuts them into windows, and finds answers."""
