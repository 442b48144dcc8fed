"""Writes files completely or not at all, and checks paths before any work.

This is the lowest package. Every other package may import it, and it imports
only the standard library. It loads TensorFlow only for remote paths.
"""
