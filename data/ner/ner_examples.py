"""Defines an example: a sentence of tagged words, or an annotated text.

A text is split into words as in CoNLL's files. The graph of
sentence_windows_graph.py splits text in the same way.
"""

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Self

from data.text.characters import CJK_RANGES, CharacterSpan

# BETWEEN_WORDS matches text that becomes a separate word even without spaces
# around it, in Python and in a graph (RE2). An ideograph is a word in Chinese
# corpora and for BERT's tokenizer. Em dashes, horizontal bars and ellipses,
# also if typed as -- and ..., often stand between two words without spaces.
_IDEOGRAPHS = "".join(f"{chr(low)}-{chr(high)}" for low, high in CJK_RANGES)
BETWEEN_WORDS = f"(\u2014+|\u2015+|\u2026+|--+|[.][.][.]+|[{_IDEOGRAPHS}])"


@dataclasses.dataclass(slots=True)
class NerExample:
    """A sentence with tagged words, or a text with annotated spans.

    Attributes:
        place_in_file: where the example begins, such as "line 3",
            for messages.
        words: the words of the sentence or text.
        tags: the words' tags, such as "B-PER".
        document_index: index of the document that contains the sentence.
        text: the text, or None if the file contains words in columns.
        row: {name: value} of the example in the file, without annotations in a
            test set. None in a train set.
        guid: name of the example in the files of a run, "" until `NerReader`
            names it.
    """

    place_in_file: str
    words: list[str]
    tags: list[str]
    document_index: int
    text: str | None = None
    row: Mapping[str, object] | None = None
    guid: str = ""

    @property
    def texts(self) -> list[str]:
        """The words as one text."""
        return [" ".join(self.words)]

    def without_row(self) -> Self:
        """Returns a copy whose `row` is None."""
        return dataclasses.replace(self, row=None)


def split_words(text: str) -> list[str]:
    r"""Splits a text into words, as in CoNLL's files.

    Examples:
        >>> print(*split_words('He\'s "in" (St. Ives). York--often'))
        He's " in " ( St . Ives ). York -- often

    Consecutive punctuation before or after a word becomes one separate word. An
    em dash, -- or an ellipsis becomes a separate word even between letters, and
    so does each ideograph.
    """
    words: list[str] = []
    for chunk in re.sub(BETWEEN_WORDS, r" \1 ", text).split():
        start = 0
        end = len(chunk)
        while start < end and _is_punctuation(chunk[start]):
            start += 1
        while start < end and _is_punctuation(chunk[end - 1]):
            end -= 1
        words += filter(None, (chunk[:start], chunk[start:end], chunk[end:]))
    return words


def find_words(text: str, words: Iterable[str]) -> list[CharacterSpan]:
    """Finds the position of each word in a text.

    Examples:
        >>> spans = find_words("He left.", ["He", "left", "."])
        >>> [(span.start, span.end) for span in spans]
        [(0, 2), (3, 7), (7, 8)]

    Raises:
        ValueError: the text does not contain the words in this order.
    """
    spans = []
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        spans.append(CharacterSpan(start, end))
    return spans


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char).startswith("P")
