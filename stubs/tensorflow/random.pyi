"""Types of the functions of `tf.random` that this project calls."""

from typing import Any

from tensorflow._tensors import DTypeLike, Tensor, Value

def stateless_uniform(
    shape: Value,
    seed: Value,
    minval: Value = 0,
    maxval: Value | None = None,
    dtype: DTypeLike = ...,
) -> Tensor: ...

experimental: Any
