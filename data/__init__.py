"""Text and files to tensors."""
