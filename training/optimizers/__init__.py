"""Optimizers (AdamW, LAMB) and learning rate schedules."""
