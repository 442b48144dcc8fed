"""Writes files safely, and checks the paths in flags before a script starts.

Every other package may import this package. It imports only the standard
library and absl, and loads TensorFlow only for remote paths.
"""
