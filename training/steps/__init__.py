"""One run: its model, its steps, and what is done between them."""
