"""Reads text files, packed or remote too. Reads and writes TFRecords."""
