"""Ids of a table of ten rows, as integers and checked."""

import keras
import numpy as np
import pytest

from modeling import features


def checked(values, dtype):
    """Returns ids of a table of ten rows, checked."""
    ids = keras.ops.convert_to_tensor(np.array(values, dtype))
    return features.to_integer_ids(ids, "input_ids", num_rows=10)


def test_whole_numbers_of_any_type_become_integers():
    ids = checked([0.0, 9.0], "float32")
    assert keras.backend.standardize_dtype(ids.dtype) == "int32"
    assert np.asarray(ids).tolist() == [0, 9]


@pytest.mark.parametrize("wrong", [-1, 10, 0.5])
def test_an_id_that_is_not_a_row_of_the_table_is_named(wrong):
    says = f"from 0 to 9. Received: {wrong}"
    with pytest.raises(ValueError, match=says):
        checked([0, wrong], "float32")


def test_ids_in_16_bits_are_refused_as_they_would_be_rounded():
    with pytest.raises(ValueError, match="must be integers"):
        checked([0, 1], "float16")
