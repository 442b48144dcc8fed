"""How weights follow gradients, and their averages."""
