"""The tags that the graph chooses, against Python's."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from data.ner import tag_decoding, tag_decoding_graph
from data.probabilities import to_log_probabilities

SCHEMES = {
    "IOB2": ["O", "B-A", "I-A", "B-B", "I-B"],
    "BILOU": ["O", "B-A", "L-A", "U-A", "I-A"],
    "BMES": ["S-A", "B-A", "M-A", "E-A", "O"],
    "without types": ["O", "B", "I"],
    "IOB1": ["O", "I-A", "B-A", "I-B"],
    "no O": ["I-A", "B-A"],
}


def random_rows(labels, lengths):
    """Returns probabilities of the tags of texts, float [length, tags] each."""
    rng = np.random.default_rng(1)
    return [rng.dirichlet(np.ones(len(labels)), length) for length in lengths]


def decode_in_python(rows, labels):
    """Returns the best legal tags of all texts, as one list of ids."""
    decoded = [
        tag_decoding.decode_tags(to_log_probabilities(row), labels, True)
        for row in rows
    ]
    return [*itertools.chain(*decoded)]


def to_ragged(rows):
    """Returns the probabilities as the graph takes them."""
    values = np.concatenate(rows).astype(np.float32)
    return tf.RaggedTensor.from_row_lengths(values, [*map(len, rows)])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_graph_decodes_tags_as_python_does(scheme):
    labels = SCHEMES[scheme]
    rows = random_rows(labels, (1, 3, 0, 5, 2, 4))
    ids = tag_decoding_graph.decode_legal_tags(to_ragged(rows), labels)
    assert ids.numpy().tolist() == decode_in_python(rows, labels)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_graph_keeps_tags_that_are_legal_without_a_search(scheme):
    labels = SCHEMES[scheme]
    rows = to_ragged(random_rows(labels, (1, 3, 0, 5, 2, 4)))
    ids = tag_decoding_graph.decode_legal_tags(rows, labels)
    legal = rows.with_flat_values(tf.one_hot(ids, len(labels)))
    again = tag_decoding_graph.decode_legal_tags(legal, labels)
    np.testing.assert_array_equal(again, ids)


@pytest.mark.parametrize("longest", [511, 512, 513, 1024])
def test_the_graph_decodes_texts_of_many_words_as_python_does(longest):
    labels = SCHEMES["IOB2"]
    decode = tf.function(
        lambda rows: tag_decoding_graph.decode_legal_tags(rows, labels)
    )
    rows = random_rows(labels, (3, longest, 0))
    ids = decode(to_ragged(rows))
    assert ids.numpy().tolist() == decode_in_python(rows, labels)
