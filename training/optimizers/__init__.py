"""AdamW, LAMB, learning rates, and averages of the weights."""
