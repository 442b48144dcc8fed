"""Reads words with tags of named entities, cuts windows, and scores tags."""
