"""The signature `tokenize`, against the tokenizer in Python."""

import numpy as np
import pytest
import tensorflow as tf

from exporting.common_signatures import (
    create_tokenize_signature,
)
from tests.support.serving.exports import LENGTH, TOKENIZER, create_options

FIRST = ["The harbor light is on.", "a boat " * 40]
SECOND = ["the sea", ""]


@pytest.fixture(scope="module")
def outputs():
    """{name: array} of the outputs for two pairs, of which one is cut."""
    tokenize = create_tokenize_signature(create_options().packing)
    results = tokenize.function(tf.constant(FIRST), tf.constant(SECOND))
    return {name: value.numpy() for name, value in results.items()}


def test_tokens_are_those_of_both_texts_and_padding(outputs):
    tokens = [
        "[CLS]",
        *TOKENIZER.tokenize(FIRST[0]),
        "[SEP]",
        *TOKENIZER.tokenize(SECOND[0]),
        "[SEP]",
    ]
    padding = [""] * (LENGTH - len(tokens))
    row = [token.decode() for token in outputs["tokens"][0]]
    assert row == tokens + padding


def test_lengths_count_the_tokens_that_the_model_reads(outputs):
    assert outputs["lengths"].tolist() == [
        np.count_nonzero(outputs["tokens"][0] != b""),
        LENGTH,
    ]


def test_num_wordpieces_counts_them_before_texts_are_cut(outputs):
    assert outputs["num_wordpieces"].tolist() == [
        len(TOKENIZER.tokenize(FIRST[0])) + len(TOKENIZER.tokenize(SECOND[0])),
        len(TOKENIZER.tokenize(FIRST[1])),
    ]
