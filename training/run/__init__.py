"""The folder of a run: what it records, and what a resume compares."""
