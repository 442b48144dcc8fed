"""The network's operations, as TensorFlow fuses or compiles them."""
