"""Instances for pretraining, and how they are masked."""
