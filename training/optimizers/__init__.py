"""AdamW, LAMB, learning rates, and their fast execution."""
