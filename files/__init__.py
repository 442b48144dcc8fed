"""Files on disk: written whole or not at all, checked before any work.

The bottom floor: every other package may import this one, and it imports only
the standard library. TensorFlow is loaded only for remote paths.
"""
