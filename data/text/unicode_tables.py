"""Tables of `BasicTokenizer`'s treatment of each code point, for tensors.

They are built from `unicodedata` and `str`, so they agree with this Python's
Unicode on every code point.
"""

import functools
import sys
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from data.text import characters

# Flags of an entry.
DROPPED = 1  # a control, or a mark that is stripped
SPACE = 2
ISOLATED = 4  # a word of its own: punctuation, CJK ideographs
SEVERAL = 8  # becomes several code points: the value is a row of `several`
CASED = 16
CASE_IGNORABLE = 32  # skipped when looking for a capital sigma's neighbours
STARTER = 64  # marks are not reordered across it
REORDERED = 128  # a mark that is not stripped and may be reordered

_VALUE_SHIFT = 8
_VALUE_BIAS = 1 << 21
_PAGE_SIZE = 256


class Tables(NamedTuple):
    """Entries for all code points, equal pages stored once.

    Attributes:
        pages: int32 [4352], the block of each 256 code points.
        blocks: int32 [num_blocks * 256], entries: flags, and above them
            what to add to the code point, or the row of `several`.
        several: int32 [num_rows, 3], padded with -1.
        combining_classes: int32 [2, n], the code points of marks that may be
            reordered, ascending, and their canonical combining classes.
    """

    pages: np.ndarray
    blocks: np.ndarray
    several: np.ndarray
    combining_classes: np.ndarray

    def lookup(
        self, cps: Any, gather: Callable[[Any, Any], Any]
    ) -> tuple[Any, Any]:
        """Returns (flags, values) of code points, by a gather function."""
        block = gather(self.pages, cps // _PAGE_SIZE)
        entry = gather(self.blocks, block * _PAGE_SIZE + cps % _PAGE_SIZE)
        value = entry // (1 << _VALUE_SHIFT) - _VALUE_BIAS
        return entry % (1 << _VALUE_SHIFT), value


@functools.cache
def create_tables(do_lower_case: bool) -> Tables:
    """Creates the tables of `BasicTokenizer(do_lower_case)`.

    Capital sigma has the entry of a sigma that does not end a word.
    """
    several: list[list[int]] = []
    combining_classes: list[tuple[int, int]] = []
    # Unassigned code points stay as they are.
    entries = np.full(
        sys.maxunicode + 1, STARTER | _VALUE_BIAS << _VALUE_SHIFT, np.int32
    )
    cps, are_plain = _code_points()
    entries[cps[are_plain]] |= _plain_flags(cps[are_plain], do_lower_case)
    for cp in cps[~are_plain].tolist():
        char = chr(cp)
        flags, result = _normalize(char, do_lower_case)
        if len(result) > 1:
            flags |= SEVERAL
            value = len(several)
            several.append([*map(ord, result), -1][:3])
        else:
            value = ord(result) - cp if result else 0
        for out in result:
            if do_lower_case and unicodedata.combining(out):
                combining_classes.append((ord(out), unicodedata.combining(out)))
        entries[cp] = flags | (value + _VALUE_BIAS) << _VALUE_SHIFT
    blocks: dict[bytes, int] = {}
    pages = [
        blocks.setdefault(page.tobytes(), len(blocks))
        for page in entries.reshape(-1, _PAGE_SIZE)
    ]
    return Tables(
        np.array(pages, np.int32),
        np.frombuffer(b"".join(blocks), np.int32),
        np.array(several or [[-1] * 3], np.int32),
        np.array(sorted(set(combining_classes)) or [(0, 0)], np.int32).T.copy(),
    )


@functools.cache
def _are_ideographs() -> np.ndarray:
    """Returns for all code points if each is in a block of ideographs."""
    is_ideograph = np.zeros(sys.maxunicode + 1, bool)
    for low, high in characters.CJK_RANGES:
        is_ideograph[low : high + 1] = True
    return is_ideograph


@functools.cache
def _code_points() -> tuple[np.ndarray, np.ndarray]:
    """Returns the code points that are assigned or in a block of ideographs.

    Returns:
        int [n], and bool [n], whether each is a letter, number or symbol that
        lower-casing and stripping accents leave as it is. They are nine of ten
        and looked at together, which takes a tenth of the time.
    """
    every = list(map(chr, range(sys.maxunicode + 1)))
    categories = "".join(map(unicodedata.category, every)).encode()
    major, minor = np.frombuffer(categories, "S1").reshape(-1, 2).T
    are_used = (major != b"C") | (minor == b"c") | (minor == b"f")
    cps = np.flatnonzero(are_used | _are_ideographs())
    may_be_plain = _are_ideographs()[cps]
    for kind in (b"L", b"N", b"S"):
        may_be_plain |= major[cps] == kind
    # Much of ASCII is punctuation, and U+FFFD is dropped.
    may_be_plain &= (cps > 127) & (cps != 0xFFFD)
    chars = [every[cp] for cp in cps[may_be_plain]]
    changed = _change_each(
        chars, lambda text: unicodedata.normalize("NFD", text.lower())
    )
    are_plain = may_be_plain.copy()
    are_plain[may_be_plain] = [
        char == other for char, other in zip(chars, changed, strict=True)
    ]
    return cps, are_plain


def _change_each(
    texts: Iterable[str], change: Callable[[str], str]
) -> list[str]:
    """Changes many texts in one call, each independently of the others."""
    return change("\n".join(texts)).split("\n")


def _plain_flags(cps: np.ndarray, do_lower_case: bool) -> np.ndarray:
    """Returns the flags of characters that become themselves; see STARTER."""
    flags = np.where(_are_ideographs()[cps], ISOLATED, 0)
    if do_lower_case:
        chars = list(map(chr, cps))

        def end_after(before: str) -> list[bool]:
            texts = _change_each(
                [f"{before}{char}\u03a3" for char in chars], str.lower
            )
            return [text[-1] == "\u03c2" for text in texts]

        # See `_case_flags`.
        flags |= np.where(end_after("A"), CASE_IGNORABLE, 0)
        flags = np.where(end_after(""), CASED | flags & ISOLATED, flags)
    return flags


def _normalize(char: str, do_lower_case: bool) -> tuple[int, str]:
    """Returns the flags of a character, and the characters it becomes."""
    cleaned = characters.clean_character(char)
    if not cleaned:
        return DROPPED | CASE_IGNORABLE, ""
    if cleaned.isspace():
        return SPACE | STARTER, " "
    flags = ISOLATED if len(cleaned) > 1 else 0
    if not do_lower_case:
        if characters.is_punctuation(char):
            flags |= ISOLATED
        return flags | STARTER, char
    decomposed = unicodedata.normalize("NFD", char.lower())
    letters = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    flags |= _case_flags(char)
    if not letters:
        flags |= DROPPED
    if any(map(characters.is_punctuation, letters)):
        flags |= ISOLATED
    if not all(map(unicodedata.combining, decomposed)):
        flags |= STARTER
    if any(map(unicodedata.combining, letters)):
        flags |= REORDERED
    return flags, letters


def _case_flags(char: str) -> int:
    """Returns the flags that decide about a capital sigma nearby.

    A sigma is final after a cased letter; `str.lower` skips case ignorable
    characters to find it.
    """
    if f"{char}\u03a3".lower()[-1] == "\u03c2":
        return CASED
    if f"A{char}\u03a3".lower()[-1] == "\u03c2":
        return CASE_IGNORABLE
    return 0
