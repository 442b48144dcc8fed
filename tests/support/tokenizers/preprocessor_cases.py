"""Texts of the tests of the preprocessor, and the features that are right."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from data.arrays import FeatureArrays
from data.text.tokenization import FullTokenizer

TEXTS = ["The boat left at noon.", "Nobody saw the light, did they?", ""]
SECONDS = ["It rains.", "", "Caf\u00e9s \u4e2d are closed on a day of rain."]
LENGTH = 12
NAMES = ["input_ids", "input_mask", "segment_ids"]


def expected(
    tokenizer: FullTokenizer,
    texts: Sequence[str],
    seconds: Sequence[str] | None = None,
    length: int = LENGTH,
) -> FeatureArrays:
    """The features that the scripts create, padded to a fixed length."""
    features = tokenizer(texts, seconds, max_length=length)
    width = length - features["input_ids"].shape[1]
    return {
        name: np.pad(values, [(0, 0), (0, width)])
        for name, values in features.items()
    }


def assert_same(actual: Mapping[str, Any], features: FeatureArrays) -> None:
    """Checks that features are 32-bit integers, and equal others."""
    assert sorted(actual) == NAMES
    for name, values in features.items():
        assert actual[name].dtype == tf.int32
        np.testing.assert_array_equal(actual[name], values)
