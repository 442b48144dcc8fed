"""Reads reference outputs at the width of BERT-Base, and builds the model.

For example:

    assert_close(computed, read_numbers(), tolerance=1e-3)
"""

import numpy as np

import modeling
from tests.support.golden import ROOT
from tests.support.models import built
from tests.testdata.golden.base_width import record

FOLDER = ROOT / "tests" / "testdata" / "golden" / "base_width"


def read_numbers():
    """Returns {name: norm and entries}, as record.sample gives them."""
    with np.load(FOLDER / "numbers.npz") as numbers:
        return dict(numbers)


def create_model(dtype):
    """Returns a BertPretrainer with the recorded run's start."""
    config = modeling.BertConfig(**record.CONFIG)
    model = built(modeling.BertPretrainer(config, dtype=dtype))
    for name, variable in modeling.named_variables(model).items():
        if variable.trainable:
            variable.assign(record.draw(name, variable.shape))
    return model


def assert_close(actual, expected, tolerance):
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
