"""Types of the functions of `tf.io` that this project calls."""

from collections.abc import Mapping, Sequence

from tensorflow._tensors import DTypeLike, Tensor, Value
from tensorflow.io import gfile as gfile

class FixedLenFeature:
    def __init__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        default_value: Value | None = None,
    ) -> None: ...

def parse_example(
    serialized: Value, features: Mapping[str, FixedLenFeature]
) -> dict[str, Tensor]: ...
