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
    combining_classes: set[tuple[int, int]] = set()
    # Unassigned code points stay as they are.
    entries = np.full(
        sys.maxunicode + 1, STARTER | _VALUE_BIAS << _VALUE_SHIFT, np.int32
    )
    code_points = _code_points()
    chars = list(map(chr, code_points))
    changed, case_flags = chars, [0] * len(chars)
    if do_lower_case:
        changed = _change_each(
            chars, lambda text: unicodedata.normalize("NFD", text.lower())
        )
        case_flags = _case_flags(chars)
    for char, decomposed, case, (cp, is_ideograph) in zip(
        chars, changed, case_flags, code_points.items(), strict=True
    ):
        flags, result = STARTER | case | is_ideograph * ISOLATED, char
        # Nine of ten are letters, numbers or symbols that stay as they are. But
        # much of ASCII is punctuation, and U+FFFD is dropped.
        if (
            char != decomposed
            or cp < 128
            or cp == 0xFFFD
            or unicodedata.category(char)[0] not in "LNS"
        ):
            flags, result = _normalize(char, decomposed, case, do_lower_case)
        if len(result) > 1:
            flags |= SEVERAL
            value = len(several)
            several.append([*map(ord, result), -1][:3])
        else:
            value = ord(result) - cp if result else 0
        if do_lower_case:
            combining_classes |= {
                (ord(out), unicodedata.combining(out))
                for out in result
                if unicodedata.combining(out)
            }
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
        np.array(sorted(combining_classes) or [(0, 0)], np.int32).T.copy(),
    )


def _code_points() -> dict[int, bool]:
    """Returns {code point: whether it is in a block of ideographs}.

    They are the ones that are assigned or in a block of ideographs.
    """
    ideographs = {
        cp for low, high in characters.CJK_RANGES for cp in range(low, high + 1)
    }
    return {
        cp: cp in ideographs
        for cp in range(sys.maxunicode + 1)
        if unicodedata.category(chr(cp)) not in ("Cn", "Cs", "Co")
        or cp in ideographs
    }


def _change_each(
    texts: Iterable[str], change: Callable[[str], str]
) -> list[str]:
    """Changes many texts in one call, each independently of the others."""
    # Between them a noncharacter, which is in none of them.
    return change("\uffff".join(texts)).split("\uffff")


def _case_flags(chars: Iterable[str]) -> list[int]:
    """Returns the flags that decide about a capital sigma nearby.

    A sigma is final after a cased letter; `str.lower` skips case ignorable
    characters to find it.
    """
    after_char, after_letter = (
        _change_each((f"{before}{char}\u03a3" for char in chars), str.lower)
        for before in ("", "A")
    )
    return [
        CASED
        if first.endswith("\u03c2")
        else CASE_IGNORABLE * second.endswith("\u03c2")
        for first, second in zip(after_char, after_letter, strict=True)
    ]


def _normalize(
    char: str, decomposed: str, case_flags: int, do_lower_case: bool
) -> tuple[int, str]:
    """Returns the flags of a character, and the characters it becomes."""
    cleaned = characters.clean_character(char)
    if not cleaned:
        return DROPPED | CASE_IGNORABLE, ""
    if cleaned.isspace():
        return SPACE | STARTER, " "
    letters, flags = decomposed, case_flags
    if do_lower_case:
        letters = characters.strip_accents(decomposed)
        if any(map(unicodedata.combining, letters)):
            flags |= REORDERED
    if not letters:
        flags |= DROPPED
    if len(cleaned) > 1 or any(map(characters.is_punctuation, letters)):
        flags |= ISOLATED
    if not do_lower_case or not all(map(unicodedata.combining, decomposed)):
        flags |= STARTER
    return flags, letters
