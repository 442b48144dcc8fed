"""Writes files that appear complete or not at all, locks folders, reads JSON.

Every other package may import this package. It imports only the standard
library, and loads TensorFlow only for remote paths.
"""
