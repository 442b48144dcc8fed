"""Normalizes code points inside a TensorFlow graph, for TokenizerLayer.

`normalize` equals `BasicTokenizer` in tokenization.py before it splits words.
tests/data/text/test_tokenizer_layer.py compares the tokens of both. Tables say
what becomes of each code point. They are built from Python's `unicodedata` and
`str`, so they have the same effect as `BasicTokenizer` in this version of
Python.

D = code points of the decoded texts, K = normalized code points, including
white space.
"""

import functools
import sys
import unicodedata
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.arrays import IntArray
from data.text import characters, ragged

# Flags of a code point: the low 8 bits of its entry in `UnicodeTables`.
DROPPED = 1  # a control character, or a combining mark that is stripped
BORDER = 2  # a space, or a separate word: punctuation or a CJK ideograph
SEVERAL = 4  # the character becomes several code points
CASED = 8
CASE_IGNORABLE = 16  # skipped when the characters around a sigma are checked
STARTER = 32  # marks are not reordered across this character
REORDERED = 64  # a combining mark that is kept and may be reordered
ODD = 128  # needs more than a look-up: SEVERAL, REORDERED, capital sigma
_CAPITAL_SIGMA = 0x3A3
_VALUE_SHIFT = 8
_PAGE_SHIFT = 8


class UnicodeTables(NamedTuple):
    """Flags and replacements of all code points.

    A page contains the entries of 256 successive code points. Equal pages are
    stored only once.

    Attributes:
        pages: int32 [4352], index in `entries` at which each page begins.
        entries: int32 [number of different pages * 256]. The low 8 bits of an
            entry are the flags of a code point. The other bits are a number to
            add to the code point. The sum is the replacement of the code point
            or, with the flag SEVERAL, the index of a row in `several`.
        several: int32 [num_rows, 3]. A row contains the code points that
            replace one code point, padded with -1.
        combining_classes: int32 [2, n]. The first row contains the code points
            of the marks that may be reordered, ascending. The second row
            contains their canonical combining classes.
    """

    pages: IntArray
    entries: IntArray
    several: IntArray
    combining_classes: IntArray

    def lookup(self, code_points: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Looks up code points, int32. Returns (flags, replacements), int32.

        The replacement of a code point with the flag SEVERAL is the index of a
        row in `several`.
        """
        page = tf.gather(
            self.pages, tf.bitwise.right_shift(code_points, _PAGE_SHIFT)
        )
        entry = tf.gather(
            self.entries, page + (code_points & (1 << _PAGE_SHIFT) - 1)
        )
        value = tf.bitwise.right_shift(entry, _VALUE_SHIFT)
        return entry & (1 << _VALUE_SHIFT) - 1, code_points + value


class NormalizedCharacters(NamedTuple):
    """K normalized code points of all texts, including white space.

    Attributes:
        code_points: int32 [K]. Until `_expand` is called, a character that
            becomes several code points is represented by the index of its row
            in `UnicodeTables.several`.
        flags: int32 [K], flags such as BORDER.
        decoded_indices: int32 [K], index of the decoded code point that a code
            point came from, from 0 to D - 1.
    """

    code_points: tf.Tensor
    flags: tf.Tensor
    decoded_indices: tf.Tensor


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
    is_dropped = flags & DROPPED  # 1 = dropped
    chars = NormalizedCharacters(
        *(
            tf.dynamic_partition(values, is_dropped, 2)[0]
            for values in (code_points, flags, tf.range(tf.size(code_points)))
        )
    )
    if not do_lower_case:
        return chars
    return tf.cond(
        tf.reduce_any((flags & ODD) > 0),
        lambda: _reorder(_expand(_lower_sigmas(chars), tables), flags, tables),
        lambda: chars,
    )


def _lower_sigmas(chars: NormalizedCharacters) -> NormalizedCharacters:
    """Lower-cases Greek capital sigmas as `str.lower` does.

    A sigma becomes a final sigma if the character before it is a cased letter
    and the character after it is not. Case-ignorable characters around the
    sigma are skipped, including all characters that cleaning drops.
    """
    counted = ragged.true_indices((chars.flags & CASE_IGNORABLE) == 0)
    is_cased = (chars.flags & CASED) > 0
    sigmas = ragged.true_indices(chars.code_points == _CAPITAL_SIGMA)
    rank = tf.searchsorted(counted, sigmas)
    follows_cased = (rank > 0) & tf.gather(
        is_cased, tf.gather(counted, tf.maximum(rank - 1, 0))
    )
    # A line end follows each text, so `rank + 1` is always a valid index.
    precedes_cased = tf.gather(is_cased, tf.gather(counted, rank + 1))
    is_final = follows_cased & ~precedes_cased
    lowered = tf.where(is_final, ord("\u03c2"), ord("\u03c3"))
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
    replaced = ragged.true_indices((chars.flags & SEVERAL) > 0)
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
    candidates = ragged.true_indices((chars.flags & REORDERED) > 0)
    code_points = tf.gather(chars.code_points, candidates)
    # Where each candidate is in `marks`, if it is a mark.
    index = tf.minimum(tf.searchsorted(marks, code_points), len(marks) - 1)
    is_mark = ragged.true_indices(tf.gather(marks, index) == code_points)
    # [1 2 4], where a mark is
    targets = tf.gather(candidates, is_mark)
    is_starter = (decoded_flags & STARTER) > 0
    # [1 1 1 2 2], the number of each character's base, and [1 1 2] of marks
    runs = tf.cumsum(tf.cast(is_starter, tf.int32))
    runs = tf.gather(runs, tf.gather(chars.decoded_indices, targets))
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


@functools.cache
def create_tables(do_lower_case: bool) -> UnicodeTables:
    """Creates tables that normalize as `BasicTokenizer(do_lower_case)` does."""
    several: list[list[int]] = []
    classes: dict[int, int] = {}
    # Unassigned code points and most ideographs keep these entries.
    entries = np.full(sys.maxunicode + 1, STARTER, np.int32)
    for low, high in characters.CJK_RANGES:
        entries[low : high + 1] = BORDER | STARTER
    for code_point, char in enumerate(map(chr, range(sys.maxunicode + 1))):
        category = unicodedata.category(char)
        is_ideograph = category == "Lo" and entries[code_point] != STARTER
        is_unassigned = category in ("Cn", "Cs", "Co")
        is_plain = is_ideograph and not unicodedata.decomposition(char)
        if is_unassigned or is_plain:
            continue
        flags, result = _normalize_character(char, do_lower_case)
        value = ord(result) - code_point if len(result) == 1 else 0
        if len(result) > 1:
            flags |= SEVERAL | ODD
            value = len(several) - code_point
            # Two or three code points. -1 fills up a row of two.
            several.append([*map(ord, result), -1][:3])
        if flags & REORDERED:
            classes |= {ord(out): unicodedata.combining(out) for out in result}
        entries[code_point] = flags | value << _VALUE_SHIFT
    pages, distinct_entries = _share_equal_pages(entries)
    marks = sorted(mark for mark in classes.items() if mark[1])
    return UnicodeTables(
        pages,
        distinct_entries,
        np.array(several or [[-1] * 3], np.int32),
        np.array(marks or [(0, 0)], np.int32).T.copy(),
    )


def _share_equal_pages(entries: IntArray) -> tuple[IntArray, IntArray]:
    """Returns `UnicodeTables.pages`, and the entries of the distinct pages.

    `entries` are those of all code points, int32 [code points].
    """
    # {block of entries: where it begins in the table of distinct blocks}
    blocks: dict[bytes, int] = {}
    pages = []
    for page in entries.reshape(-1, 1 << _PAGE_SHIFT):
        block = page.tobytes()
        if block not in blocks:
            blocks[block] = len(blocks) << _PAGE_SHIFT
        pages.append(blocks[block])
    return (
        np.array(pages, np.int32),
        np.frombuffer(b"".join(blocks), np.int32),
    )


def _normalize_character(char: str, do_lower_case: bool) -> tuple[int, str]:
    """Returns (flags of a character, characters that replace it)."""
    cleaned = characters.clean_character(char)
    if not cleaned:
        return DROPPED | CASE_IGNORABLE, ""
    if cleaned.isspace():
        return BORDER | STARTER, " "
    flags = 0
    decomposed = char
    letters = char
    if do_lower_case:
        decomposed = unicodedata.normalize("NFD", char.lower())
        letters = characters.strip_accents(decomposed)
        if any(map(unicodedata.combining, letters)):
            flags |= REORDERED | ODD
        flags |= _case_flag_of(char)
        if ord(char) == _CAPITAL_SIGMA:
            flags |= ODD
            letters = char
    if not letters:
        flags |= DROPPED
    if len(cleaned) > 1 or any(map(characters.is_punctuation, letters)):
        flags |= BORDER
    if not do_lower_case or not all(map(unicodedata.combining, decomposed)):
        flags |= STARTER
    return flags, letters


def _case_flag_of(char: str) -> int:
    """Returns CASED, CASE_IGNORABLE or 0, which `unicodedata` does not tell.

    The function lower-cases a capital sigma after the character. The sigma
    becomes final after a cased letter, even if case-ignorable characters are
    between the letter and the sigma.
    """
    if f"{char}\u03a3".lower().endswith("\u03c2"):
        return CASED
    if f"A{char}\u03a3".lower().endswith("\u03c2"):
        return CASE_IGNORABLE
    return 0
