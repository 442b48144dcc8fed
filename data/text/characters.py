"""Classifies and cleans characters as Google's tokenizer does."""

import unicodedata
from collections.abc import Callable
from typing import NamedTuple


class CharacterSpan(NamedTuple):
    """A part of a text, by the indices of its characters.

    Attributes:
        start: index of the first character.
        end: index after the last character.
    """

    start: int
    end: int


def is_punctuation(char: str) -> bool:
    """Returns whether Google's code treats a character as punctuation.

    Punctuation is all printable ASCII except letters, digits and the space, and
    all characters of Unicode's categories P*.
    """
    if char.isascii():
        return "!" <= char <= "~" and not char.isalnum()
    return unicodedata.category(char).startswith("P")


CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def is_cjk(code_point: int) -> bool:
    """Returns whether a code point is in a Unicode block of CJK ideographs."""
    return any(low <= code_point <= high for low, high in CJK_RANGES)


def clean_character(char: str) -> str:
    """Returns the string that replaces a character when text is cleaned.

    Control characters are dropped, white space becomes a space, CJK ideographs
    get a space on both sides, and other characters do not change.
    """
    category = unicodedata.category(char)
    if char in " \t\n\r" or category == "Zs":
        return " "
    if char in "\0\ufffd" or category in ("Cc", "Cf"):
        return ""
    return f" {char} " if is_cjk(ord(char)) else char


class _Table(dict[int, str]):
    """Table for str.translate, which computes an entry at its first use."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, code_point: int) -> str:
        self[code_point] = self._function(chr(code_point))
        return self[code_point]


_CLEAN_TABLE = _Table(clean_character)
_ACCENT_TABLE = _Table(
    lambda char: "" if unicodedata.category(char) == "Mn" else char
)
_PUNCTUATION_TABLE = _Table(
    lambda char: f"\n{char}\n" if is_punctuation(char) else char
)


def clean_text(text: str) -> str:
    """Applies `clean_character` to each character of a text."""
    # Printable ASCII is already clean.
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_CLEAN_TABLE)


def strip_accents(text: str) -> str:
    """Decomposes a text (Unicode's NFD), and drops its combining marks."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFD", text).translate(_ACCENT_TABLE)


def split_on_punctuation(text: str) -> list[str]:
    """Splits a word at punctuation. Each punctuation mark is a token.

    Examples:
        >>> split_on_punctuation("isn't")
        ['isn', "'", 't']
    """
    if text.isalnum():
        return [text]
    return text.translate(_PUNCTUATION_TABLE).split()
