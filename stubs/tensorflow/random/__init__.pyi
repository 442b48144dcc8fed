"""Types of the functions of `tf.random` that this project calls."""

from tensorflow._tensors import DTypeLike, Tensor, Value
from tensorflow.random import experimental as experimental

def stateless_uniform(
    shape: Value,
    seed: Value,
    minval: Value = 0,
    maxval: Value | None = None,
    dtype: DTypeLike = ...,
) -> Tensor: ...
