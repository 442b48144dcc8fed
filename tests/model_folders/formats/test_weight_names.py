"""Names of entries in files of weights."""

import re

from model_folders.formats import weight_names

WORDS = re.compile(r"(.*/)?bert/word_embeddings")


def test_the_scope_of_bert_is_removed():
    names = ["module/bert/word_embeddings", "module/bert/bias"]
    assert weight_names.without_scope(names, WORDS) == {
        "bert/word_embeddings": "module/bert/word_embeddings",
        "bert/bias": "module/bert/bias",
    }


def test_a_variable_outside_of_the_scope_keeps_its_name():
    names = ["module/bert/word_embeddings", "output_bias"]
    scopeless = weight_names.without_scope(names, WORDS)
    assert scopeless["output_bias"] == "output_bias"


def test_a_variable_of_the_scope_wins():
    names = ["module/bert/word_embeddings", "module/bias", "bias"]
    assert weight_names.without_scope(names, WORDS)["bias"] == "module/bias"


def test_a_block_may_start_from_another_one():
    name = "bert/encoder/layer_1/output/bias"
    source = weight_names.source_name(name, [0, 11])
    assert source == "bert/encoder/layer_11/output/bias"


def test_a_name_that_cannot_be_printed_is_quoted():
    assert weight_names.printable_name("a/b") == "a/b"
    assert weight_names.printable_name("a\nb") == r"'a\nb'"
