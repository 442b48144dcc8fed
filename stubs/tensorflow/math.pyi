"""Types of the functions of `tf.math` that this project calls."""

from collections.abc import Sequence
from typing import NamedTuple

from tensorflow._tensors import DTypeLike, RaggedTensor, Tensor, Value

class _TopK(NamedTuple):
    values: Tensor
    indices: Tensor

def count_nonzero(
    input: Value | RaggedTensor,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = ...,
) -> Tensor: ...
def divide_no_nan(x: Value, y: Value) -> Tensor: ...
def is_finite(x: Value) -> Tensor: ...
def l2_normalize(
    x: Value, axis: int | None = None, epsilon: float = 1e-12
) -> Tensor: ...
def log(x: Value) -> Tensor: ...
def multiply_no_nan(x: Value, y: Value) -> Tensor: ...
def rsqrt(x: Value) -> Tensor: ...
def top_k(
    input: Value,
    k: Value = 1,
    sorted: bool = True,
    index_type: DTypeLike = ...,
) -> _TopK: ...
def unsorted_segment_mean(
    data: Value, segment_ids: Value, num_segments: Value
) -> Tensor: ...
def unsorted_segment_min(
    data: Value, segment_ids: Value, num_segments: Value
) -> Tensor: ...
def unsorted_segment_sum(
    data: Value, segment_ids: Value, num_segments: Value
) -> Tensor: ...
