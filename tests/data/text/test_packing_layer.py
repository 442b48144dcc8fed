"""Texts and windows of texts become inputs inside a graph.

data/text/token_windows.py defines the windows in Python.
"""

import pytest
import tensorflow as tf

from data.text import packing_layer, token_windows, tokenization
from tests.support import golden
from tests.support.tokenizers.packed_texts import check_packed


@pytest.fixture
def layer(create_tokenizer):
    """The TokenizerLayer of single letters: [CLS] 2, [SEP] 3, a 4, b 5, c 6."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    return create_tokenizer([*special, "a", "b", "c", "[MASK]"]).layer


def pack(layer, max_seq_length, *texts, **kwargs):
    """Packs one text, or one pair. Returns {name: numbers of the input}."""
    packing = packing_layer.PackingLayer(layer, max_seq_length, **kwargs)
    packed = packing(*([text] for text in texts))
    return {name: row.numpy().tolist() for name, (row,) in packed.items()}


def test_a_short_text_is_padded(layer):
    assert pack(layer, 6, tf.constant("a b")) == {
        "input_ids": [2, 4, 5, 3, 0, 0],
        "input_mask": [1, 1, 1, 1, 0, 0],
        "segment_ids": [0, 0, 0, 0, 0, 0],
    }


def test_the_second_text_of_a_pair_is_in_segment_1(layer):
    assert pack(layer, 7, tf.constant("a b"), tf.constant("c")) == {
        "input_ids": [2, 4, 5, 3, 6, 3, 0],
        "input_mask": [1, 1, 1, 1, 1, 1, 0],
        "segment_ids": [0, 0, 0, 0, 1, 1, 0],
    }


def test_an_empty_second_text_counts_as_none(layer):
    pair = pack(layer, 5, tf.constant("a b"), tf.constant(" "))
    assert pair["input_ids"] == [2, 4, 5, 3, 0]


@pytest.mark.parametrize(
    ("truncate", "input_ids"),
    [
        ("round_robin", [2, 4, 4, 3, 5, 5, 3]),
        ("waterfall", [2, 4, 4, 4, 3, 5, 3]),
    ],
)
def test_a_long_pair_is_cut(layer, truncate, input_ids):
    texts = tf.constant("a a a"), tf.constant("b b b")
    assert pack(layer, 7, *texts, truncate=truncate)["input_ids"] == input_ids


@pytest.mark.parametrize("max_seq_length", [3, 4, 9, 40])
def test_packing_truncates_as_run_classifier(max_seq_length):
    tokenizer = tokenization.FullTokenizer(
        golden.ROOT / "tests/testdata/golden/vocab/uncased.txt"
    )
    texts = [("a. " * i, "b, " * j) for i in range(9) for j in range(9)]
    first, second = zip(*texts, strict=True)
    check_packed(tokenizer, max_seq_length, first, second)
    check_packed(tokenizer, max_seq_length, first)


@pytest.mark.parametrize("length", [2, 4.0, "4"])
def test_a_length_without_room_for_a_wordpiece_is_refused(layer, length):
    with pytest.raises(ValueError, match=r"whole number from 3, .*received"):
        packing_layer.PackingLayer(layer, length)


# The number of tokens of three texts.
COUNTS = [0, 7, 3]


@pytest.fixture
def tokens():
    """Three texts of 0, 7 and 3 tokens, numbered from 10."""
    return tf.RaggedTensor.from_row_lengths(tf.range(10, 20), COUNTS)


def test_windows_cover_each_text(tokens):
    windows = packing_layer.cut_windows(tokens, max_seq_length=6, stride=2)
    assert windows.rows.numpy().tolist() == [1, 1, 1, 2]
    assert windows.starts.numpy().tolist() == [0, 2, 4, 7]
    assert windows.lengths.numpy().tolist() == [4, 4, 3, 3]


def test_an_empty_text_may_have_a_window(tokens):
    windows = packing_layer.cut_windows(tokens, 6, 2, fewest=1)
    assert windows.rows.numpy().tolist() == [0, 1, 1, 1, 2]
    assert windows.lengths.numpy().tolist() == [0, 4, 4, 3, 3]


def test_windows_are_packed_with_cls_and_sep(tokens, layer):
    windows = packing_layer.cut_windows(tokens, 6, 2)
    assert windows.pack(layer, 6)["input_ids"].numpy().tolist() == [
        [2, 10, 11, 12, 13, 3],
        [2, 12, 13, 14, 15, 3],
        [2, 14, 15, 16, 3, 0],
        [2, 17, 18, 19, 3, 0],
    ]


@pytest.fixture
def windows_of_query(tokens):
    """Windows of the texts, each after a query of one token, 5."""
    query = tf.ragged.constant([[5], [5], [5]], dtype=tf.int32)
    return packing_layer.cut_windows(tokens, 7, stride=3, query=query)


def test_a_query_is_segment_0_of_each_window(windows_of_query, layer):
    packed = windows_of_query.pack(layer, 7)
    assert packed["input_ids"].numpy().tolist() == [
        [2, 5, 3, 10, 11, 12, 3],
        [2, 5, 3, 13, 14, 15, 3],
        [2, 5, 3, 16, 3, 0, 0],
        [2, 5, 3, 17, 18, 19, 3],
    ]
    segments = packed["segment_ids"].numpy().tolist()
    assert segments[2] == [0, 0, 0, 1, 1, 0, 0]


def test_the_first_place_of_a_window_is_behind_its_query(windows_of_query):
    assert windows_of_query.first_places.numpy().tolist() == [3, 3, 3, 3]


def test_the_first_place_of_a_window_without_query_is_behind_cls(tokens):
    windows = packing_layer.cut_windows(tokens, 6, 2)
    assert windows.first_places.numpy().tolist() == [1, 1, 1, 1]


def test_a_slice_of_windows_is_packed_alone(tokens, layer):
    windows = packing_layer.cut_windows(tokens, 6, 2).slice(2, 4)
    assert windows.pack(layer, 6)["input_ids"].numpy().tolist() == [
        [2, 14, 15, 16, 3, 0],
        [2, 17, 18, 19, 3, 0],
    ]


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
def test_the_most_context_is_that_of_token_windows(stride):
    tokens = tf.RaggedTensor.from_row_lengths(tf.range(23), [23])
    windows = packing_layer.cut_windows(tokens, 7, stride)
    spans = token_windows.cut_spans(23, 5, stride)
    best = windows.most_context(tf.range(23, dtype=tf.int64))
    expected = token_windows.most_context(spans)
    assert best.numpy().tolist() == expected.tolist()
