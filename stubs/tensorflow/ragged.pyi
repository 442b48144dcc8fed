"""Types of the functions of `tf.ragged` that this project calls."""

from tensorflow._tensors import DTypeLike, RaggedTensor, Value

def boolean_mask(
    data: Value | RaggedTensor, mask: Value | RaggedTensor
) -> RaggedTensor: ...
def range(
    starts: Value,
    limits: Value | None = None,
    deltas: Value = 1,
    dtype: DTypeLike | None = None,
) -> RaggedTensor: ...
