"""Chooses the most probable legal tags of the words of a sentence.

For example, I-PER is legal only after B-PER or I-PER:

    legal      B-PER I-PER O       O B-LOC
    illegal    O I-PER             B-LOC I-PER

L = number of tags.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from data.arrays import BoolArray, FloatArray, IntArray

# Number to add to a sequence's score for each illegal tag. It is finite, so
# that decoding also works if all sequences are illegal.
_PENALTY = -1e4
# Tag prefixes of the schemes in entity_scoring.py.
_CONTINUING_PREFIXES = {*"IMEL"}  # any word of an entity except the first
_CONTINUED_PREFIXES = {*"BIM"}  # any word after which the entity may continue
_ENDING_PREFIXES = {*"EL"}  # the last word of an entity of several words


def decode_tags(
    scores: FloatArray, labels: Sequence[str], legal_tags: bool
) -> IntArray:
    """Chooses the tag of each word of a sentence.

    Examples:
        For the first word, O is more probable than B-PER. But I-PER, which is
        far more probable for the second word, is illegal after O:

        >>> scores = np.log([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
        >>> labels = ["O", "B-PER", "I-PER"]
        >>> decode_tags(scores, labels, legal_tags=False)
        array([0, 2])
        >>> decode_tags(scores, labels, legal_tags=True)
        array([1, 2])

    Args:
        scores: float [words, tags], logits of the tags, or logarithms of their
            probabilities.
        labels: names of the tags, in the order of the scores.
        legal_tags: whether to choose the best legal sequence instead of the
            best tag of each word.

    Returns:
        index of each word's tag, int [words].
    """
    best: IntArray = scores.argmax(-1)
    if not legal_tags or not len(best):
        return best
    start, transition, end = compute_penalties(tuple(labels))
    # Nearly always, the best tags of the words already form a legal sequence,
    # which needs no search.
    penalty = start[best[0]] + end[best[-1]]
    if not penalty + transition[best[:-1], best[1:]].sum():
        return best
    totals = [scores[0] + start]
    for word_scores in scores[1:]:
        paths = totals[-1][:, None] + transition
        # Subtract the maximum, so that the totals stay small. Only differences
        # between totals matter, and rounding would lose them in large totals.
        totals.append(paths.max(0) - paths.max() + word_scores)
    after = end
    for word in reversed(range(len(best))):
        best[word] = np.argmax(totals[word] + after)
        after = transition[:, best[word]]
    return best


class Penalties(NamedTuple):
    """Penalties for tags, float32: 0 for a legal tag, else _PENALTY.

    Attributes:
        start: [L], for a sentence's first tag.
        transition: [L, L], for each tag (column) after each tag (row).
        end: [L], for a sentence's last tag.
    """

    start: FloatArray
    transition: FloatArray
    end: FloatArray


@functools.lru_cache(maxsize=16)
def compute_penalties(labels: tuple[str, ...]) -> Penalties:
    """Returns the penalties for illegal tags, such as I-PER after O.

    Examples:
        No sentence begins with I-PER, and I-PER does not follow O (row 0):

        >>> penalties = compute_penalties(("O", "B-PER", "I-PER"))
        >>> penalties.start.tolist()
        [0.0, 0.0, -10000.0]
        >>> penalties.transition.tolist()
        [[0.0, 0.0, -10000.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]

    Args:
        labels: the L tags, in a scheme of entity_scoring.py. In IOB1 and IOE2,
            an entity may begin with a tag that also continues entities, so
            every sequence is legal.
    """
    prefixes, types = zip(
        *(label.partition("-")[::2] for label in labels), strict=True
    )
    continues = np.array(
        [prefix in _CONTINUING_PREFIXES for prefix in prefixes]
    )
    types_with_begin = {
        entity_type
        for entity_type, prefix in zip(types, prefixes, strict=True)
        if prefix == "B"
    }
    if not types_with_begin.issuperset(np.array(types)[continues]):
        continues[:] = False
    may_continue = np.array(
        [prefix in _CONTINUED_PREFIXES for prefix in prefixes]
    )
    # If the scheme marks last words, no entity may end at B, I or M.
    marks_ends = any(prefix in _ENDING_PREFIXES for prefix in prefixes)
    is_open = may_continue & continues.any() & marks_ends
    is_same_type = np.equal.outer(types, types)
    after = np.where(
        continues, may_continue[:, None] & is_same_type, ~is_open[:, None]
    )
    return Penalties(
        start=_penalize_illegal(~continues),
        transition=_penalize_illegal(after),
        end=_penalize_illegal(~is_open),
    )


def _penalize_illegal(is_legal: BoolArray) -> FloatArray:
    penalties: FloatArray = np.where(
        is_legal, np.float32(0), np.float32(_PENALTY)
    )
    return penalties
