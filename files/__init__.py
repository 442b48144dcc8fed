"""Writes files safely, and checks the paths in flags before a script starts.

Every other package may import this package. It imports only the standard
library, absl and tqdm, and loads TensorFlow only for remote paths.
"""
