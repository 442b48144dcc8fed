"""Types of `tf.random.experimental`."""

from tensorflow._tensors import Tensor, Value

def stateless_shuffle(value: Value, seed: Value) -> Tensor: ...
