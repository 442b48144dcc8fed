"""Normalizes code points inside a TensorFlow graph, for TokenizerLayer.

`normalize` equals `BasicTokenizer` in tokenization.py before it splits words.
tests/data/text/test_tokenizer_layer.py compares the tokens of both.

D = code points of the decoded texts, K = normalized code points, including
white space.
"""

from typing import NamedTuple

import tensorflow as tf

from data.text import ragged, unicode_tables
from data.text.unicode_tables import UnicodeTables


class NormalizedCharacters(NamedTuple):
    """K normalized code points of all texts, including white space.

    Attributes:
        code_points: int32 [K]. Until `_expand` is called, a character that
            becomes several code points is represented by the index of its row
            in `UnicodeTables.several`.
        flags: int32 [K], the flags of unicode_tables.py.
        source: int32 [K], index of the decoded code point that a code point
            came from, from 0 to D - 1.
    """

    code_points: tf.Tensor
    flags: tf.Tensor
    source: tf.Tensor


def normalize(
    decoded: tf.Tensor, tables: UnicodeTables, do_lower_case: bool
) -> NormalizedCharacters:
    """Normalizes code points as `BasicTokenizer` does.

    Args:
        decoded: int32 [D], code points of texts that each end with a line end.
        tables: the tables for `do_lower_case`.
        do_lower_case: whether to lower-case the text and strip accents.
    """
    flags, code_points = tables.lookup(decoded)
    is_dropped = flags & unicode_tables.DROPPED  # 1 = dropped
    chars = NormalizedCharacters(
        *(
            tf.dynamic_partition(values, is_dropped, 2)[0]
            for values in (code_points, flags, tf.range(tf.size(code_points)))
        )
    )
    if not do_lower_case:
        return chars
    return tf.cond(
        tf.reduce_any((flags & unicode_tables.ODD) > 0),
        lambda: _reorder(_expand(_lower_sigmas(chars), tables), flags, tables),
        lambda: chars,
    )


def _lower_sigmas(chars: NormalizedCharacters) -> NormalizedCharacters:
    """Lower-cases Greek capital sigmas as `str.lower` does.

    A sigma becomes a final sigma if the character before it is a cased letter
    and the character after it is not. Case-ignorable characters around the
    sigma are skipped, including all characters that cleaning drops.
    """
    counted = ragged.true_indices(
        (chars.flags & unicode_tables.CASE_IGNORABLE) == 0
    )
    is_cased = (chars.flags & unicode_tables.CASED) > 0
    sigmas = ragged.true_indices(
        chars.code_points == unicode_tables.CAPITAL_SIGMA
    )
    rank = tf.searchsorted(counted, sigmas)
    after = (rank > 0) & tf.gather(
        is_cased, tf.gather(counted, tf.maximum(rank - 1, 0))
    )
    # A line end follows each text, so `rank + 1` is always a valid index.
    before = tf.gather(is_cased, tf.gather(counted, rank + 1))
    lowered = tf.where(after & ~before, ord("\u03c2"), ord("\u03c3"))
    return chars._replace(
        code_points=tf.tensor_scatter_nd_update(
            chars.code_points, sigmas[:, None], lowered
        )
    )


def _expand(
    chars: NormalizedCharacters, tables: UnicodeTables
) -> NormalizedCharacters:
    """Replaces indices of rows of `UnicodeTables.several` by the rows.

    The comments show the values of `x가y각`, if row 0 is [ᄀ ᅡ -1] and row 1
    is [ᄀ ᅡ ᆨ]. Then `chars.code_points` are [x 0 y 1].
    """
    # [1 3], where an index is
    replaced = ragged.true_indices((chars.flags & unicode_tables.SEVERAL) > 0)
    rows = tf.gather(tables.several, tf.gather(chars.code_points, replaced))
    # [[1 1 0] [1 1 1]]. -1 fills up a row.
    is_code_point = rows >= 0
    # [1 2]
    num_added = tf.math.count_nonzero(is_code_point, axis=1, dtype=tf.int32) - 1
    num_chars = tf.size(chars.code_points)
    # [1 3 4 7], where each character ends in the result
    ends = tf.cumsum(
        1 + tf.math.unsorted_segment_sum(num_added, replaced, num_chars)
    )
    # [0 1 1 2 3 3 3], the character that each code point comes from
    origin = ragged.row_ids(
        tf.concat([[0], ends], 0), num_chars + tf.reduce_sum(num_added)
    )
    # [1 4], where the first code point of each row is in the result
    first = tf.gather(ends, replaced) - num_added - 1
    # [1 2 4 5 6], where all code points of the rows are
    new_indices = tf.boolean_mask(first[:, None] + tf.range(3), is_code_point)
    # The code points are first [x 0 0 y 1 1 1], then [x ᄀ ᅡ y ᄀ ᅡ ᆨ].
    chars = NormalizedCharacters(*(tf.gather(value, origin) for value in chars))
    code_points = tf.tensor_scatter_nd_update(
        chars.code_points,
        new_indices[:, None],
        tf.boolean_mask(rows, is_code_point),
    )
    return chars._replace(code_points=code_points)


def _reorder(
    chars: NormalizedCharacters, decoded_flags: tf.Tensor, tables: UnicodeTables
) -> NormalizedCharacters:
    """Sorts the combining marks after each base character.

    Unicode's NFD defines the order. `decoded_flags`, int32 [D], are the flags
    of all decoded code points.

    The comments show the values of `x p q y q` without its blanks. p and q are
    marks of the classes 226 and 224, so that q stands before p.
    """
    marks, classes = tables.combining_classes
    # [1 2 4], where a mark may be
    candidates = ragged.true_indices(
        (chars.flags & unicode_tables.REORDERED) > 0
    )
    code_points = tf.gather(chars.code_points, candidates)
    # Where each candidate is in `marks`, if it is a mark.
    index = tf.minimum(tf.searchsorted(marks, code_points), len(marks) - 1)
    is_mark = ragged.true_indices(tf.gather(marks, index) == code_points)
    # [1 2 4], where a mark is
    targets = tf.gather(candidates, is_mark)
    is_starter = (decoded_flags & unicode_tables.STARTER) > 0
    # [1 1 1 2 2], the number of each character's base, and [1 1 2] of marks
    runs = tf.cumsum(tf.cast(is_starter, tf.int32))
    runs = tf.gather(runs, tf.gather(chars.source, targets))
    # [1 0 2], because of the keys 256 + 226, 256 + 224 and 512 + 224
    order = tf.argsort(
        tf.cast(runs, tf.int64) * 256
        + tf.cast(tf.gather(classes, tf.gather(index, is_mark)), tf.int64),
        stable=True,
    )
    # [2 1 4]: q moves from 2 to 1, and p from 1 to 2.
    sources = tf.gather(targets, order)
    return NormalizedCharacters(
        *(
            tf.tensor_scatter_nd_update(
                value, targets[:, None], tf.gather(value, sources)
            )
            for value in chars
        )
    )
