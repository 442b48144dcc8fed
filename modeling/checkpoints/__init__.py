"""Reading and writing weights under the original's names."""
