"""Reads reference outputs at the width of BERT-Base, and builds the model.

For example:

    assert_close(computed, read_numbers(), tolerance=1e-3)
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import modeling
from tests.support.models import built
from tests.support.paths import ROOT
from tests.testdata.golden.base_width import record

# {name: norm and entries of a tensor}, as record.sample gives them.
Numbers: TypeAlias = Mapping[str, NDArray[Any]]

FOLDER = ROOT / "tests" / "testdata" / "golden" / "base_width"


def read_numbers() -> Numbers:
    """Returns the Numbers of the recorded run."""
    with np.load(FOLDER / "numbers.npz") as numbers:
        return dict(numbers)


def create_model(dtype: str) -> modeling.BertPretrainer:
    """Returns a BertPretrainer with the recorded run's start."""
    sizes: dict[str, Any] = record.CONFIG
    config = modeling.BertConfig(**sizes)
    model = built(modeling.BertPretrainer(config, dtype=dtype))
    for name, variable in modeling.named_variables(model).items():
        if variable.trainable:
            variable.assign(record.draw(name, variable.shape))
    return model


def assert_close(
    actual: Mapping[str, Any], expected: Numbers, tolerance: float
) -> None:
    """Compares norms and entries, relative to a tensor's size.

    Args:
        actual: {name: array}.
        expected: {name: norm and entries}.
        tolerance: largest difference of an entry over the root mean square of
            its tensor's entries, and relative difference of the norm.
    """
    assert actual.keys() == expected.keys()
    for name, value in actual.items():
        value = np.asarray(value)
        norm, *entries = record.sample(value)
        recorded, *others = expected[name]
        # A gradient that is 0 but for rounding, such as the key bias's, is
        # compared as a small number.
        scale = max(recorded, 1e-3)
        assert abs(norm - recorded) <= tolerance * scale, name
        np.testing.assert_allclose(
            entries,
            others,
            rtol=0,
            atol=tolerance * scale / value.size**0.5,
            err_msg=name,
        )
