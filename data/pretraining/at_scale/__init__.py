"""Pretraining records of any corpus in bounded memory, by many processes."""
