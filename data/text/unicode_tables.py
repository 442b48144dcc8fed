"""Creates tables with which normalization_graph.py normalizes text.

The tables are built from Python's `unicodedata` and `str`, so they have the
same effect on each code point as `BasicTokenizer` in this version of Python.
"""

import functools
import sys
import unicodedata
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.arrays import IntArray
from data.text import characters

# Flags of a code point: the low 8 bits of its entry in `UnicodeTables`.
DROPPED = 1  # a control character, or a combining mark that is stripped
BORDER = 2  # a space, or a separate word: punctuation or a CJK ideograph
SEVERAL = 4  # the character becomes several code points
CASED = 8
CASE_IGNORABLE = 16  # skipped when the characters around a sigma are checked
STARTER = 32  # marks are not reordered across this character
REORDERED = 64  # a combining mark that is kept and may be reordered
ODD = 128  # needs more than a look-up: SEVERAL, REORDERED, capital sigma

CAPITAL_SIGMA = 0x3A3
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
        if ord(char) == CAPITAL_SIGMA:
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
