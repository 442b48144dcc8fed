"""Types of the operations of `tf.raw_ops` that this project calls."""

# ruff: noqa: N802  TensorFlow names operations like classes.

from collections.abc import Sequence
from typing import Any

from tensorflow._tensors import DType, Operation, Tensor, Value

def Assert(
    *, condition: Value, data: Sequence[Value], summarize: int = 3
) -> Operation: ...
def PreventGradient(*, input: Value, message: str = "") -> Tensor: ...
def RestoreV2(
    *,
    prefix: Value,
    tensor_names: Value,
    shape_and_slices: Value,
    dtypes: Sequence[DType],
) -> list[Tensor]: ...
def __getattr__(name: str) -> Any: ...
