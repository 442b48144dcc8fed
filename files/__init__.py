"""Writes files completely or not at all, and checks paths before any work.

Every other package may import this package. It imports only the standard
library, absl and tqdm, and loads TensorFlow only for remote paths.
"""
