"""Defines a sentence with tagged words, which the readers of files create."""

import dataclasses
from collections.abc import Mapping
from typing import Self


@dataclasses.dataclass(slots=True)
class NerExample:
    """A sentence with tagged words, or a text with annotated spans.

    Attributes:
        guid: name of the example.
        words: the words of the sentence or text.
        labels: the words' tags.
        document_index: index of the document that contains the sentence.
        text: the text, or None if the file contains words in columns.
        row: {name: value} of the example in the file, without annotations in a
            test set. None in a train set.
    """

    guid: str
    words: list[str]
    labels: list[str]
    document_index: int
    text: str | None = None
    row: Mapping[str, object] | None = None

    def without_row(self) -> Self:
        """Returns a copy whose `row` is None."""
        return dataclasses.replace(self, row=None)
