"""Types of Keras's utilities."""

from typing import Any

# What a batch contains is the caller's: tensors, dicts or None. Without labels
# and weights, it is `x` itself instead of a tuple.
def pack_x_y_sample_weight(
    x: Any, y: Any = None, sample_weight: Any = None
) -> Any: ...
def set_random_seed(seed: int) -> None: ...
def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]: ...
