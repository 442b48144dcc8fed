"""The distribution of the initial weights."""

import keras
import numpy as np
import pytest
import scipy.stats

from modeling.layers import TruncatedNormal


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_initial_weights_are_truncated_normal(dtype):
    initializer = TruncatedNormal(
        stddev=0.02, seed=keras.random.SeedGenerator(3)
    )
    values = initializer((1000, 1000), dtype)
    assert keras.backend.standardize_dtype(values.dtype) == dtype
    values = np.asarray(keras.ops.cast(values, "float32")).ravel()
    assert abs(values).max() <= (0.0401 if dtype == "bfloat16" else 0.04)
    assert abs(values.mean()) < 1e-4
    if dtype == "bfloat16":
        # As many values as it has there, and not only those of coarse draws.
        assert len(np.unique(values)) > 2000
        return
    expected = scipy.stats.truncnorm(-2, 2, scale=0.02)
    assert scipy.stats.kstest(values, expected.cdf).pvalue > 1e-6
    neighbours = np.corrcoef(values[:-1], values[1:])[0, 1]
    assert abs(neighbours) < 5 / np.sqrt(values.size)
