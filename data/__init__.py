"""Converts text and data files to the network's inputs. Writes predictions."""
