"""The best legal sequence of tags."""

import itertools

import numpy as np
import pytest

from data.ner.tag_decoding import decode_tags
from data.probabilities import to_log_probabilities

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
    """Returns whether tags follow one another as a scheme allows."""
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


def random_scores(labels, length):
    """Returns scores of the tags of a text, float [length, tags]."""
    rng = np.random.default_rng(length)
    return to_log_probabilities(rng.dirichlet(np.ones(len(labels)), length))


LENGTHS = pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5])


@LENGTHS
@pytest.mark.parametrize("scheme", SCHEMES)
def test_decoding_finds_the_best_legal_sequence(scheme, length):
    labels = SCHEMES[scheme]
    scores = random_scores(labels, length)
    legal = [
        ids
        for ids in itertools.product(range(len(labels)), repeat=length)
        if is_legal([labels[i] for i in ids], scheme)
    ]
    best = max(legal, key=lambda ids: sum(scores[range(len(ids)), ids]))
    assert decode_tags(scores, labels, True).tolist() == [*best]


@LENGTHS
@pytest.mark.parametrize("scheme", SCHEMES)
def test_decoding_of_any_sequence_takes_the_best_tags(scheme, length):
    labels = SCHEMES[scheme]
    scores = random_scores(labels, length)
    best = scores.argmax(-1)
    assert decode_tags(scores, labels, False).tolist() == [*best]


@LENGTHS
@pytest.mark.parametrize("scheme", ["IOB1", "IOE2"])
def test_all_sequences_of_schemes_without_beginnings_are_legal(scheme, length):
    labels = SCHEMES[scheme]
    scores = random_scores(labels, length)
    legal = decode_tags(scores, labels, True)
    free = decode_tags(scores, labels, False)
    assert legal.tolist() == free.tolist()


def test_small_differences_of_scores_decide_in_a_long_text():
    labels = ["O", "B-A", "I-A"]
    scores = np.tile(np.float32([-20, -20.5, -21]), (20000, 1))
    scores[0] = [-9, -1.5, 0]
    best = decode_tags(scores, labels, True)
    assert best[0] == 1
    assert not best[1:].any()
