"""Initial weights: the truncated normal distribution of Google's code."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from modeling.ops import Tensor


@keras.saving.register_keras_serializable(package="bert")
class TruncatedNormal(keras.initializers.TruncatedNormal):
    """Draws from a truncated normal by inverting its distribution function.

    This is twice as fast as Keras's initializer, which draws values beyond two
    standard deviations again.
    """

    def __call__(self, shape: Sequence[int], dtype: Any = None) -> Tensor:
        """Returns a tensor of random values with this shape and dtype."""
        dtype = keras.backend.standardize_dtype(dtype)
        limit = math.erf(math.sqrt(2.0))
        uniform = keras.random.uniform(
            shape,
            -limit,
            limit,
            # 16-bit floats have too few values for a uniform draw.
            dtype=keras.backend.result_type(dtype, "float32"),
            seed=self.seed,
        )
        scale = self.stddev * math.sqrt(2.0)
        return keras.ops.cast(
            self.mean + scale * keras.ops.erfinv(uniform), dtype
        )
