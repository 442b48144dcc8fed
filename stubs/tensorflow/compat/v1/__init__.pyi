"""Types of the functions of TensorFlow 1 that TensorFlow 2 lacks."""

from tensorflow._tensors import ShapeLike, Tensor, Value
from tensorflow.compat.v1 import nn as nn
from tensorflow.compat.v1 import train as train

def placeholder_with_default(
    input: Value, shape: ShapeLike, name: str | None = None
) -> Tensor: ...
