"""Reads and writes text files, tables and TFRecords, and runs workers."""
