"""Types of `tf.bitwise`."""

from tensorflow._tensors import Tensor, Value

def right_shift(x: Value, y: Value) -> Tensor: ...
