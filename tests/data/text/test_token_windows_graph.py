"""Texts are cut into windows inside a graph, and the windows become inputs."""

import pytest
import tensorflow as tf

from data.text import token_windows
from data.text.token_windows_graph import cut_windows

# The number of tokens of three texts.
COUNTS = [0, 7, 3]


@pytest.fixture
def tokens():
    """Three texts of 0, 7 and 3 tokens, numbered from 10."""
    return tf.RaggedTensor.from_row_lengths(tf.range(10, 20), COUNTS)


def test_windows_cover_each_text(tokens):
    windows = cut_windows(tokens, max_seq_length=6, stride=2)
    assert windows.text_indices.numpy().tolist() == [1, 1, 1, 2]
    assert windows.starts.numpy().tolist() == [0, 2, 4, 7]
    assert windows.lengths.numpy().tolist() == [4, 4, 3, 3]


def test_an_empty_text_may_have_a_window(tokens):
    windows = cut_windows(tokens, 6, 2, min_windows=1)
    assert windows.text_indices.numpy().tolist() == [0, 1, 1, 1, 2]
    assert windows.lengths.numpy().tolist() == [0, 4, 4, 3, 3]


def test_windows_are_packed_with_cls_and_sep(tokens, letters_layer):
    windows = cut_windows(tokens, 6, 2)
    assert windows.pack(letters_layer, 6)["input_ids"].numpy().tolist() == [
        [2, 10, 11, 12, 13, 3],
        [2, 12, 13, 14, 15, 3],
        [2, 14, 15, 16, 3, 0],
        [2, 17, 18, 19, 3, 0],
    ]


@pytest.fixture
def windows_of_query(tokens):
    """Windows of the texts, each after a query of one token, 5."""
    query = tf.ragged.constant([[5], [5], [5]], dtype=tf.int32)
    return cut_windows(tokens, 7, stride=3, query=query)


def test_a_query_is_segment_0_of_each_window(windows_of_query, letters_layer):
    packed = windows_of_query.pack(letters_layer, 7)
    assert packed["input_ids"].numpy().tolist() == [
        [2, 5, 3, 10, 11, 12, 3],
        [2, 5, 3, 13, 14, 15, 3],
        [2, 5, 3, 16, 3, 0, 0],
        [2, 5, 3, 17, 18, 19, 3],
    ]
    segments = packed["segment_ids"].numpy().tolist()
    assert segments[2] == [0, 0, 0, 1, 1, 0, 0]


def test_the_first_place_of_a_window_is_behind_its_query(windows_of_query):
    assert windows_of_query.first_positions.numpy().tolist() == [3, 3, 3, 3]


def test_the_first_place_of_a_window_without_query_is_behind_cls(tokens):
    windows = cut_windows(tokens, 6, 2)
    assert windows.first_positions.numpy().tolist() == [1, 1, 1, 1]


def test_a_slice_of_windows_is_packed_alone(tokens, letters_layer):
    windows = cut_windows(tokens, 6, 2).slice(2, 4)
    assert windows.pack(letters_layer, 6)["input_ids"].numpy().tolist() == [
        [2, 14, 15, 16, 3, 0],
        [2, 17, 18, 19, 3, 0],
    ]


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 9])
def test_windows_are_those_of_token_windows(stride):
    tokens = tf.RaggedTensor.from_row_lengths(tf.range(23), [23])
    windows = cut_windows(tokens, 7, stride)
    starts, lengths = zip(*token_windows.cut_spans(23, 5, stride), strict=True)
    assert windows.starts.numpy().tolist() == [*starts]
    assert windows.lengths.numpy().tolist() == [*lengths]


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
def test_the_most_context_is_that_of_token_windows(stride):
    tokens = tf.RaggedTensor.from_row_lengths(tf.range(23), [23])
    windows = cut_windows(tokens, 7, stride)
    spans = token_windows.cut_spans(23, 5, stride)
    best = windows.find_max_context_windows(tf.range(23, dtype=tf.int64))
    expected = token_windows.find_max_context_windows(spans)
    assert best.numpy().tolist() == expected.tolist()
