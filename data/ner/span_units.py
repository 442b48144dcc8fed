"""Finds out whether spans count other units than characters.

    {"text": "\N{GRINNING FACE} Anna left", "entities": [[3, 7, "PER"]]}

This span counts UTF-16 units, so that it is "nna ". Other files count bytes,
words, or what a reader sees as one character. Right spans may also begin or end
inside words, such as "Anna" in "Anna's". But in one file, right spans do only
one of the two, because a language adds either endings or beginnings to words.
Wrong units move both the beginning and the end.
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


class SpanFit(NamedTuple):
    """The result of comparing a span with the words of its text.

    Attributes:
        is_start_wrong: whether the span begins inside a word, or with space.
        is_end_wrong: whether the span ends inside a word, or with space.
        may_move: whether another unit would move the span.
        problem: for a message, if the span is wrong: its place, and what is
            wrong.
    """

    is_start_wrong: bool
    is_end_wrong: bool
    may_move: bool
    problem: str


def find_span_fit(text: str, start: int, end: int, where: str) -> SpanFit:
    """Returns how a span fits the words of its text.

    Args:
        text: the text that contains the span.
        start: index of the span's first character.
        end: index after the span's last character.
        where: place of the text, for messages.
    """
    before = text[:end]
    return SpanFit(
        is_start_wrong=_is_inside(text, start) or text[start].isspace(),
        is_end_wrong=_is_inside(text, end) or text[end - 1].isspace(),
        may_move=not before.isascii() or "\r\n" in before,
        problem=(
            f"{where}: the span [{start}, {end}], {text[start:end]!r}, begins "
            f"or ends inside a word of {text[:80]!r}"
        ),
    )


def check_units(spans: Sequence[SpanFit]) -> None:
    """Checks that the spans of a file count the unit that is expected.

    They seem to count another unit if most of all spans, or most of the spans
    that another unit would move, begin or end inside a word.

    Raises:
        ValueError: the spans seem to count another unit.
    """
    _check_most(spans, min_wrong=2)
    _check_most([span for span in spans if span.may_move], min_wrong=3)


def _check_most(spans: Sequence[SpanFit], min_wrong: int) -> None:
    """Raises a ValueError if most spans begin or end inside a word.

    There must be at least `min_wrong` such spans. At least a quarter of these
    spans must begin inside a word, and at least a quarter must end inside one.
    """
    num_wrong_starts = sum(span.is_start_wrong for span in spans)
    num_wrong_ends = sum(span.is_end_wrong for span in spans)
    wrong = [span for span in spans if span.is_start_wrong or span.is_end_wrong]
    is_both = 4 * min(num_wrong_starts, num_wrong_ends) >= len(wrong)
    if is_both and len(wrong) >= max(min_wrong, len(spans) // 2 + 1):
        raise ValueError(
            f"{wrong[0].problem}. So do {len(wrong)} of {len(spans)} "
            "spans. Positions count characters (Unicode code points), not "
            "bytes, UTF-16 units or words"
        )


def _is_inside(text: str, index: int) -> bool:
    """Returns whether a place is between two letters, or inside an emoji."""
    if not 0 < index < len(text):
        return False
    kinds = {_kind_of_character(char) for char in text[index - 1 : index + 1]}
    return kinds in ({"letter"}, {"sign"})


def _kind_of_character(char: str) -> str:
    """Returns "letter", "sign" for a part of an emoji, or "" for the rest.

    The rest includes the letters of scripts without spaces.
    """
    code = ord(char)
    if is_cjk(code) or any(
        low <= code <= high for low, high in _WITHOUT_SPACES
    ):
        return ""
    category = unicodedata.category(char)
    if category[0] in "LNM":
        return "letter"
    return "sign" if category in ("So", "Sk", "Cf") else ""
