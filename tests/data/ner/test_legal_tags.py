"""The best legal sequence of tags, in Python and in a graph."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from data.ner import graph_tagging, legal_tags

SCHEMES = {
    "IOB2": ["O", "B-A", "I-A", "B-B", "I-B"],
    "IOBES": ["O", "B-A", "I-A", "E-A", "S-A"],
    "BILOU": ["O", "B-A", "L-A", "U-A", "I-A"],
    "BMES": ["S-A", "B-A", "M-A", "E-A", "O"],
    "without types": ["O", "B", "I"],
    # An entity of B begins with I, so I tells nothing.
    "IOB1": ["O", "I-A", "B-A", "I-B"],
    "IOE2": ["O", "I-A", "E-A"],
    "no O": ["I-A", "B-A"],
}
STARTS = {"O", "B", "S", "U"}
FOLLOWED = {"B": "IMEL", "I": "IMEL", "M": "IMEL"}


def is_legal(tags, scheme):
    if scheme in ("IOB1", "IOE2"):
        return True
    has_ends = scheme in ("IOBES", "BILOU", "BMES")
    before = "O"
    for tag in [*tags, "O"]:
        goes_on = tag[0] in FOLLOWED.get(before[0], "") and (
            tag[1:] == before[1:]
        )
        must_go_on = has_ends and before[0] in FOLLOWED
        if not goes_on and (must_go_on or tag[0] not in STARTS):
            return False
        before = tag
    return True


@pytest.mark.parametrize("scheme", SCHEMES)
def test_decoding_finds_the_best_legal_sequence(scheme):
    labels = SCHEMES[scheme]
    rng = np.random.default_rng(1)
    rows = []
    decoded = []
    free = []
    for length in (1, 3, 0, 5, 2, 4):
        rows.append(rng.dirichlet(np.ones(len(labels)), length))
        scores = legal_tags.to_scores(rows[-1])
        decoded.append(legal_tags.decode_tags(scores, labels, True).tolist())
        free.append(legal_tags.decode_tags(scores, labels, False).tolist())
        assert free[-1] == rows[-1].argmax(-1).tolist()
        legal = [
            ids
            for ids in itertools.product(range(len(labels)), repeat=length)
            if is_legal([labels[i] for i in ids], scheme)
        ]
        best = max(legal, key=lambda ids: sum(scores[range(len(ids)), ids]))
        assert decoded[-1] == [*best]
    assert (decoded == free) == (scheme in ("IOB1", "IOE2"))
    probabilities = tf.RaggedTensor.from_row_lengths(
        np.concatenate(rows).astype(np.float32), [*map(len, rows)]
    )
    ids = graph_tagging.decode_legal(probabilities, labels)
    assert ids.numpy().tolist() == [*itertools.chain(*decoded)]
    # These are legal without a search.
    legal = probabilities.with_flat_values(tf.one_hot(ids, len(labels)))
    np.testing.assert_array_equal(
        graph_tagging.decode_legal(legal, labels), ids
    )


def test_the_graph_decodes_texts_of_many_words_as_python_does():
    labels = SCHEMES["IOB2"]
    rng = np.random.default_rng(2)
    decode = tf.function(lambda rows: graph_tagging.decode_legal(rows, labels))
    for longest in (511, 512, 513, 1024):
        lengths = [3, longest, 0]
        rows = [rng.dirichlet(np.ones(len(labels)), n) for n in lengths]
        decoded = decode(
            tf.RaggedTensor.from_row_lengths(
                np.concatenate(rows).astype(np.float32), lengths
            )
        )
        expected = [
            legal_tags.decode_tags(legal_tags.to_scores(row), labels, True)
            for row in rows
        ]
        assert decoded.numpy().tolist() == [*itertools.chain(*expected)]


def test_a_long_text_is_not_rounded_away():
    labels = ["O", "B-A", "I-A"]
    scores = np.tile(np.float32([-20, -20.5, -21]), (20000, 1))
    scores[0] = [-9, -1.5, 0]
    best = legal_tags.decode_tags(scores, labels, True)
    assert best[0] == 1
    assert not best[1:].any()
