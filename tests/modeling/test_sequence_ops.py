"""Attention masks, and the vectors at some positions, by small examples."""

import numpy as np
import pytest

from modeling import sequence_ops

pytestmark = pytest.mark.backends
INPUT_MASK = np.array([[1, 1, 0]], "int32")


def test_every_position_attends_to_all_but_padding():
    mask = sequence_ops.create_attention_mask_from_input_mask(INPUT_MASK)
    assert np.asarray(mask).tolist() == [[[1, 1, 0]]]


def test_from_left_to_right_no_position_attends_to_a_later_one():
    mask = sequence_ops.create_attention_mask_from_input_mask(
        INPUT_MASK, left_to_right=True
    )
    assert np.asarray(mask).tolist() == [[[1, 0, 0], [1, 1, 0], [1, 1, 0]]]


def test_a_mask_of_each_position_stays():
    square = np.array([[[1, 0], [0, 1]]], "int32")
    mask = sequence_ops.create_attention_mask_from_input_mask(square)
    assert np.asarray(mask).tolist() == [[[1, 0], [0, 1]]]


def test_a_position_that_any_attends_to_is_attended():
    square = np.array([[[1, 0, 0], [1, 1, 0], [0, 0, 0]]], "int32")
    attended = sequence_ops.attended_positions(square)
    assert np.asarray(attended).tolist() == [[1, 1, 0]]


def test_the_last_position_of_a_row_of_padding_is_the_first():
    mask = np.array([[1, 1, 0], [0, 0, 0]], "int32")
    assert np.asarray(sequence_ops.last_positions(mask)).tolist() == [1, 0]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_vectors_are_gathered_from_their_own_sequence(dtype):
    # Sequence 0 has the vectors 0, 1 and 2, and sequence 1 has 3, 4 and 5.
    sequences = np.arange(6, dtype="float32").reshape(2, 3, 1)
    places = np.array([[2, 0], [0, 1]], dtype)
    gathered = sequence_ops.gather_indexes(sequences, places)
    assert np.asarray(gathered).tolist() == [[[2], [0]], [[3], [4]]]


def test_one_vector_is_gathered_from_each_sequence():
    sequences = np.arange(6, dtype="float32").reshape(2, 3, 1)
    gathered = sequence_ops.gather_vectors(sequences, np.array([2, 1], "int32"))
    assert np.asarray(gathered).tolist() == [[2], [4]]
