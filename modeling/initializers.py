"""Initial weights: the original's truncated normal distribution."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from modeling.ops import Tensor


@keras.saving.register_keras_serializable(package="bert")
class TruncatedNormal(keras.initializers.TruncatedNormal):
    """Keras's initializer, drawn by the inverse of the distribution.

    Twice as fast: Keras redraws values beyond two standard deviations.
    """

    def __call__(self, shape: Sequence[int], dtype: Any = None) -> Tensor:
        """Returns new values of a shape."""
        dtype = keras.backend.standardize_dtype(dtype)
        limit = math.erf(math.sqrt(2.0))
        uniform = keras.random.uniform(
            shape,
            -limit,
            limit,
            # 16-bit floats have too few uniform values.
            dtype=keras.backend.result_type(dtype, "float32"),
            seed=self.seed,
        )
        scale = self.stddev * math.sqrt(2.0)
        return keras.ops.cast(
            self.mean + scale * keras.ops.erfinv(uniform), dtype
        )
