"""One run: its model and optimizer, its steps, and what is done between them."""
