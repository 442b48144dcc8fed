"""The numbers of a reply: plain, short and finite."""

import json

import numpy as np
import pytest

from serving.engines import EngineError
from serving.tasks.rounding import round_numbers


def test_numbers_of_any_kind_become_short_numbers_of_json():
    decoded = {
        "vector": np.float32([1 / 3, 2]),
        "matrix": np.float32([[1 / 3], [2]]),
        "scores": [np.float32(0.1), 2 / 3],
        "label": None,
        "start": 7,
    }
    assert json.loads(json.dumps(round_numbers(decoded))) == {
        "vector": [0.333333, 2],
        "matrix": [[0.333333], [2]],
        "scores": [0.1, 0.666667],
        "label": None,
        "start": 7,
    }


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_number_that_is_not_finite_is_an_error(shape, value):
    with pytest.raises(EngineError, match=f"{value}.*not a finite number"):
        round_numbers({"scores": [np.full(shape, value, np.float32)]})
