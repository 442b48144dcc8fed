"""Types of the operations of `tf.raw_ops` that this project calls."""

# ruff: noqa: N802, N803  TensorFlow names operations like classes.

from collections.abc import Sequence

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
def SaveV2(
    *,
    prefix: Value,
    tensor_names: Value,
    shape_and_slices: Value,
    tensors: Sequence[Tensor],
) -> Operation: ...
def UnicodeDecode(
    *,
    input: Value,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    Tsplits: DType = ...,
) -> tuple[Tensor, Tensor]: ...
def UnicodeDecodeWithOffsets(
    *,
    input: Value,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
) -> tuple[Tensor, Tensor, Tensor]: ...
