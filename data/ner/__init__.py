"""Reads texts with named entities, cuts them into windows, and scores tags."""
