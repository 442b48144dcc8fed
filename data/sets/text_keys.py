"""Assigns rows of --data_file to the train set or the dev set, by their texts.

Nothing else decides: no seed, label, order or other row. So a row stays in its
set when rows are added, removed, sorted or corrected around it, and copies that
differ only in case, accents, blanks or invisible characters share a set.

The readers of data/ need it to split a file. training/dev_set/ says what
else keeps a dev set apart.
"""

import functools
import hashlib
import unicodedata
from collections.abc import Iterable

# Version of the rule, which model.json records. Any change of this module that
# moves a row needs another one.
RULE_VERSION = 1
# Letters of Hangul and a cell of Braille that show nothing.
_BLANK_LETTERS = "\u115f\u1160\u2800"
# Separates texts in a key. No normal form contains a blank.
_TEXT_SEPARATOR = "\n"


def normal_form(text: str) -> str:
    """Returns a text in its normal form, by which texts are compared.

    Compatible characters become one (NFKC), and case, accents, blanks and
    invisible characters are dropped. The normal form of a normal form is the
    same.

    Examples:
        >>> normal_form("  CAFÉ  No. 5 ")
        'cafeno.5'
    """
    if text.isascii() and text.isprintable():
        # The same, but quicker.
        return text.lower().replace(" ", "")
    # Drop characters of decomposed text, in which a letter stays as it is when
    # its neighbors are dropped. Then compose the letters that NFKC composes.
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    kept = filter(_is_kept, unicodedata.normalize("NFKD", decomposed))
    composed = unicodedata.normalize("NFC", "".join(kept))
    # In Turkish, I is the capital of the dotless i. The capital of i has a dot,
    # which was dropped.
    return composed.replace("\N{LATIN SMALL LETTER DOTLESS I}", "i")


def is_blank(text: str) -> bool:
    """Returns whether a text shows nothing: no normal form is left of it."""
    return not any(map(_is_kept, text))


@functools.lru_cache(maxsize=1 << 16)
def _is_kept(char: str) -> bool:
    """Returns whether a normal form contains a character.

    Unassigned characters are kept, because another version of Unicode may
    assign them.
    """
    if char in _BLANK_LETTERS or char.isspace():
        return False
    category = unicodedata.category(char)
    return category not in ("Cc", "Cf", "Cs", "Mn", "Zl", "Zp", "Zs")


def key_of(texts: Iterable[str]) -> str:
    r"""Returns the key of a row: its texts' normal forms, in a fixed order.

    So a pair and its reverse have the same key, also if a text is empty.

    Examples:
        >>> key_of(["Who left?", "A Boat"])
        'aboat\nwholeft?'
        >>> key_of(["a boat", "", "who LEFT?"])
        'aboat\nwholeft?'
    """
    return _TEXT_SEPARATOR.join(sorted(filter(None, map(normal_form, texts))))


def split_fraction_of(key: str) -> float:
    """Returns a number from 0 to 1 that depends only on the key.

    The row is in the dev set if the number is below --dev_fraction.
    """
    digest = hashlib.sha256(key.encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
