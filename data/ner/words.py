"""Splits text into the words that get tags.

serving/ner.py splits text in the same way inside a graph.
"""

import re
import unicodedata
from collections.abc import Iterable

from data.text.characters import CJK_RANGES

# Ideographs are separate words, as in Chinese corpora and for BERT's tokenizer.
# Em dashes, horizontal bars and ellipses are separate words too, also if typed
# as -- and dots, because texts contain them without spaces around them.
_IDEOGRAPHS = "".join(f"{chr(low)}-{chr(high)}" for low, high in CJK_RANGES)
_BETWEEN_WORDS = re.compile(
    rf"(\u2014+|\u2015+|\u2026+|--+|\.\.\.+|[{_IDEOGRAPHS}])"
)
# The same white space as [\s\pZ] in words_layer.py. str.split would also split
# at other characters.
_SPACES = re.compile(
    "[ \t\n\f\r\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
)


def split_words(text: str) -> list[str]:
    """Splits a text into words, as in CoNLL's files.

        He's "in" (St. Ives). York--often -> He's " in " ( St . Ives ).
                                             York -- often

    Punctuation at the ends of a word, dashes and dots between words, and
    ideographs are separate words.
    """
    words = []
    for chunk in _SPACES.split(_BETWEEN_WORDS.sub(r" \1 ", text)):
        begin, end = 0, len(chunk)
        while begin < end and _is_punctuation(chunk[begin]):
            begin += 1
        while begin < end and _is_punctuation(chunk[end - 1]):
            end -= 1
        parts = chunk[:begin], chunk[begin:end], chunk[end:]
        words += [word for part in parts for word in part.split()]
    return words


def find_words(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Returns (start, end) of each word in a text, in characters.

    Raises:
        ValueError: the text does not contain the words in this order.
    """
    places, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            raise ValueError(
                f"the word {word!r} is missing at its place in the text. "
                f"Received: {text[end : end + 80]!r}"
            )
        end = start + len(word)
        places.append((start, end))
    return places


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char).startswith("P")
