"""Finds out whether spans count other units than characters.

    {"text": "\N{GRINNING FACE} Anna left", "entities": [[3, 7, "PER"]]}

This span counts UTF-16 units, so that it is "nna ". Other files count bytes,
words, or what a reader sees as one character. Right spans may also begin or end
inside words, such as "Anna" in "Anna's". But few of them do either, because a
language adds endings or beginnings, while wrong units move both places.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from data.text.characters import is_cjk

# Blocks of scripts without spaces between words: Thai and Lao, Tibetan and
# Burmese, Khmer, kana.
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),
    (0x0F00, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9F),
)


class Fit(NamedTuple):
    """How a span fits the words of its text.

    Attributes:
        is_start_wrong: whether the span begins inside a word, or with space.
        is_end_wrong: whether the span ends inside a word, or with space.
        may_move: whether its place depends on the unit.
        shown: the span and its text, for a message.
    """

    is_start_wrong: bool
    is_end_wrong: bool
    may_move: bool
    shown: str


def fit(text: str, start: int, end: int, where: str) -> Fit:
    """Returns how a span fits the words of its text."""
    before = text[:end]
    return Fit(
        _is_inside(text, start) or text[start].isspace(),
        _is_inside(text, end) or text[end - 1].isspace(),
        not before.isascii() or "\r\n" in before,
        f"{where}: the span [{start}, {end}], {text[start:end]!r}, begins or "
        f"ends inside a word of {text[:80]!r}",
    )


def check(spans: Sequence[Fit]) -> None:
    """Raises a ValueError if most spans of a file fit no words.

    Or if most spans do whose places depend on the unit.
    """
    movable = [each for each in spans if each.may_move]
    for some, fewest in (spans, 2), (movable, 3):
        starts = [each for each in some if each.is_start_wrong]
        ends = [each for each in some if each.is_end_wrong]
        wrong = [x for x in some if x.is_start_wrong or x.is_end_wrong]
        is_both = 4 * min(len(starts), len(ends)) >= len(wrong)
        if is_both and len(wrong) >= max(fewest, len(some) // 2 + 1):
            raise ValueError(
                f"{wrong[0].shown}. So do {len(wrong)} of {len(some)} spans. "
                "Positions count characters (Unicode code points), not bytes, "
                "UTF-16 units or words"
            )


def _is_inside(text: str, index: int) -> bool:
    """Returns whether a place is between two letters, or inside an emoji."""
    if not 0 < index < len(text):
        return False
    kinds = {_kind(char) for char in text[index - 1 : index + 1]}
    return kinds in ({"letter"}, {"sign"})


def _kind(char: str) -> str:
    """Returns "letter", "sign" for parts of an emoji, or "".

    The latter is for other characters, and for letters of scripts without
    spaces.
    """
    code = ord(char)
    if is_cjk(code) or any(a <= code <= b for a, b in _WITHOUT_SPACES):
        return ""
    category = unicodedata.category(char)
    if category[0] in "LNM":
        return "letter"
    return "sign" if category in ("So", "Sk", "Cf") else ""
