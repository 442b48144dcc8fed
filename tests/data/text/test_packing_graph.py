"""Texts become inputs inside a graph."""

import pytest
import tensorflow as tf

from data.text import packing_graph, tokenization
from tests.support.paths import ROOT
from tests.support.tokenizers.packed_texts import check_packed


def pack_texts(layer, max_seq_length, *texts, **kwargs):
    """Packs one text, or one pair. Returns {name: numbers of the input}."""
    packing = packing_graph.PackingLayer(layer, max_seq_length, **kwargs)
    packed = packing(*([text] for text in texts))
    return {name: row.numpy().tolist() for name, (row,) in packed.items()}


def test_a_short_text_is_padded(letters_layer):
    assert pack_texts(letters_layer, 6, tf.constant("a b")) == {
        "input_ids": [2, 4, 5, 3, 0, 0],
        "input_mask": [1, 1, 1, 1, 0, 0],
        "segment_ids": [0, 0, 0, 0, 0, 0],
    }


def test_the_second_text_of_a_pair_is_in_segment_1(letters_layer):
    assert pack_texts(
        letters_layer, 7, tf.constant("a b"), tf.constant("c")
    ) == {
        "input_ids": [2, 4, 5, 3, 6, 3, 0],
        "input_mask": [1, 1, 1, 1, 1, 1, 0],
        "segment_ids": [0, 0, 0, 0, 1, 1, 0],
    }


def test_an_empty_second_text_counts_as_none(letters_layer):
    pair = pack_texts(letters_layer, 5, tf.constant("a b"), tf.constant(" "))
    assert pair["input_ids"] == [2, 4, 5, 3, 0]


@pytest.mark.parametrize(
    ("truncate", "input_ids"),
    [
        ("round_robin", [2, 4, 4, 3, 5, 5, 3]),
        ("waterfall", [2, 4, 4, 4, 3, 5, 3]),
    ],
)
def test_a_long_pair_is_cut(letters_layer, truncate, input_ids):
    texts = tf.constant("a a a"), tf.constant("b b b")
    packed = pack_texts(letters_layer, 7, *texts, truncate=truncate)
    assert packed["input_ids"] == input_ids


@pytest.mark.parametrize("max_seq_length", [3, 4, 9, 40])
def test_packing_truncates_as_run_classifier(max_seq_length):
    tokenizer = tokenization.FullTokenizer(
        ROOT / "tests/testdata/golden/vocab/uncased.txt"
    )
    texts = [
        ("a. " * first_length, "b, " * second_length)
        for first_length in range(9)
        for second_length in range(9)
    ]
    first, second = zip(*texts, strict=True)
    check_packed(tokenizer, max_seq_length, first, second)
    check_packed(tokenizer, max_seq_length, first)


@pytest.mark.parametrize("length", [2, 4.0, "4"])
def test_a_length_without_room_for_a_wordpiece_is_refused(
    letters_layer, length
):
    with pytest.raises(ValueError, match=r"whole number from 3, .*received"):
        packing_graph.PackingLayer(letters_layer, length)
