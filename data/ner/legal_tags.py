"""Finds the most probable legal sequence of tags.

    legal      B-PER I-PER O       O B-LOC
    illegal    O I-PER             B-PER I-LOC

L = number of tags.
"""

import functools
from collections.abc import Sequence

import numpy as np

# Number to add to the score of an illegal step. It is finite, so that decoding
# also works for labels that form no legal sequence.
PENALTY = -1e4
# Prefixes of tags that continue an entity, of tags that another word of the
# entity may follow, and of tags that mark an entity's last word.
_CONTINUES, _MAY_CONTINUE, _ENDS = {*"IMEL"}, {*"BIM"}, {*"EL"}


@functools.lru_cache(maxsize=16)
def find_penalties(
    labels: tuple[str, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the penalties of illegal tags.

    Args:
        labels: the tags in order, in a scheme of scoring.py. In IOB1 and IOE2,
            an entity may begin with a tag that also continues entities, so
            every sequence is legal.

    Returns:
        three float32 arrays of 0 or PENALTY: for each tag at the start of a
        sentence [L], for each tag (column) that follows a tag (row) [L, L], and
        for each tag at the end of a sentence [L].
    """
    prefixes, types = zip(
        *(label.partition("-")[::2] for label in labels), strict=True
    )
    continues = np.array([prefix in _CONTINUES for prefix in prefixes])
    begins = {k for k, p in zip(types, prefixes, strict=True) if p == "B"}
    if not begins.issuperset(np.array(types)[continues]):
        continues[:] = False
    may_continue = np.array([prefix in _MAY_CONTINUE for prefix in prefixes])
    # If the scheme marks last words, no entity may end at B, I or M.
    is_open = may_continue & continues.any() & any(p in _ENDS for p in prefixes)
    is_same_type = np.equal.outer(types, types)
    after = np.where(
        continues, may_continue[:, None] & is_same_type, ~is_open[:, None]
    )
    start, between, end = (
        np.where(is_legal, np.float32(0), np.float32(PENALTY))
        for is_legal in (~continues, after, ~is_open)
    )
    return start, between, end


def to_scores(probabilities: np.ndarray) -> np.ndarray:
    """Returns the logarithms of probabilities, finite even for 0."""
    return np.log(np.maximum(probabilities, np.finfo(np.float32).tiny))


def decode(
    scores: np.ndarray, labels: Sequence[str], only_legal: bool
) -> np.ndarray:
    """Returns the index of the tag of each of a sentence's W words, int [W].

    Args:
        scores: float [W, L], logits, or logarithms of probabilities.
        labels: the tags in order.
        only_legal: whether to choose the best legal sequence instead of the
            best tag of each word.
    """
    best = scores.argmax(-1)
    if not only_legal or not len(best):
        return best
    start, between, end = find_penalties(tuple(labels))
    # Return early, because the best tags are nearly always a legal sequence.
    if not start[best[0]] + between[best[:-1], best[1:]].sum() + end[best[-1]]:
        return best
    total, steps = scores[0] + start, []
    for row in scores[1:]:
        paths = total[:, None] + between
        steps.append(paths.argmax(0))
        # Subtract the maximum, because only differences matter, and rounding
        # would lose differences in large sums.
        total = paths.max(0) - paths.max() + row
    best[-1] = np.argmax(total + end)
    for place in reversed(range(len(steps))):
        best[place] = steps[place][best[place + 1]]
    return best
