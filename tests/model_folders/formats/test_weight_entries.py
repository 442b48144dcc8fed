"""An entry of a file of weights, and its name."""

import re

import numpy as np

from model_folders.formats import weight_entries
from model_folders.formats.weight_entries import WeightEntry, transposed

WORDS = re.compile(r"(.*/)?bert/word_embeddings")


def test_a_transposed_entry_has_the_shape_of_its_value():
    value = np.arange(6, dtype="float32").reshape(2, 3)
    entry = transposed(WeightEntry(value.shape, "float32", lambda: value))
    assert entry.shape == (3, 2)
    np.testing.assert_array_equal(entry.read(), value.T)


def test_a_transposed_entry_is_not_read_before_it_is_asked_for():
    reads = []
    transposed(WeightEntry((2, 3), "float32", lambda: reads.append(1)))
    assert reads == []


def test_the_scope_of_bert_is_removed():
    names = ["module/bert/word_embeddings", "module/bert/bias"]
    assert weight_entries.without_scope(names, WORDS) == {
        "bert/word_embeddings": "module/bert/word_embeddings",
        "bert/bias": "module/bert/bias",
    }


def test_a_variable_outside_of_the_scope_keeps_its_name():
    names = ["module/bert/word_embeddings", "output_bias"]
    scopeless = weight_entries.without_scope(names, WORDS)
    assert scopeless["output_bias"] == "output_bias"


def test_a_variable_of_the_scope_is_preferred_to_one_outside():
    names = ["module/bert/word_embeddings", "module/bias", "bias"]
    assert weight_entries.without_scope(names, WORDS)["bias"] == "module/bias"


def test_a_block_may_start_from_another_one():
    name = "bert/encoder/layer_1/output/bias"
    entry_name = weight_entries.entry_name_of(name, [0, 11])
    assert entry_name == "bert/encoder/layer_11/output/bias"


def test_a_name_that_cannot_be_printed_is_quoted():
    assert weight_entries.printable_name("a/b") == "a/b"
    assert weight_entries.printable_name("a\nb") == r"'a\nb'"
