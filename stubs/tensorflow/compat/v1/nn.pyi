"""Types of `tf.compat.v1.nn`."""

from tensorflow._tensors import Tensor, Value

# (outputs, mean, variance)
def fused_batch_norm(
    x: Value,
    scale: Value,
    offset: Value,
    mean: Value | None = None,
    variance: Value | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
) -> tuple[Tensor, Tensor, Tensor]: ...
