"""The numbers of a reply: short and finite."""

import math

import pytest

from serving.engines import EngineError
from serving.text_tasks.rounding import round_numbers


def test_the_numbers_of_a_reply_become_short():
    decoded = {
        "vector": [1 / 3, 2.0],
        "matrix": [[1 / 3], [2.0]],
        "score": 2 / 3,
        "label": None,
        "start": 7,
    }
    assert round_numbers(decoded) == {
        "vector": [0.333333, 2.0],
        "matrix": [[0.333333], [2.0]],
        "score": 0.666667,
        "label": None,
        "start": 7,
    }


@pytest.mark.parametrize("number", [math.nan, -math.inf])
def test_a_number_that_is_not_finite_is_an_error(number):
    with pytest.raises(EngineError, match=f"{number}.*not a finite number"):
        round_numbers({"scores": [[0.5, number]]})
