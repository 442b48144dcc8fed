"""Decides which columns of a file contain the words and the tags.

The user chooses the two columns. Otherwise their names decide, which
conll_layout.py reads, or else what the columns contain.
"""

import dataclasses
import functools
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from data.ner.conll_layout import DOCUMENT_MARK, ConllLayout
from data.ner.ner_options import NerOptions
from data.ner.tag_names import is_tag, name_tags
from data.sets.example_reader import SetFile


class ConllLine(NamedTuple):
    """A line of a file, cut into the cells of its columns.

    Attributes:
        line_number: number of the line in the file.
        text: the line.
        cells: the cells, [] if the line is empty.
    """

    line_number: int
    text: str
    cells: list[str]

    @property
    def begins_document(self) -> bool:
        """Whether the line is a mark between two documents, without a word."""
        # Check all cells, because the first one need not contain the words.
        return any(cell.startswith(DOCUMENT_MARK) for cell in self.cells)


class TaggedWord(NamedTuple):
    """A word, and the tag that the file gives to it."""

    word: str
    tag: str


class SentenceLines(NamedTuple):
    """The lines of a sentence.

    Attributes:
        document_index: index of the document that contains the sentence.
        lines: a line for each word.
    """

    document_index: int
    lines: list[ConllLine]


@dataclasses.dataclass(frozen=True)
class ConllColumns:
    """The columns of a file, of which one contains words, and one tags.

    Attributes:
        file: the file, with the tags that it may contain.
        sentences: the lines of the file.
        layout: what the names of the columns show.
        options: what the user chose.
    """

    file: SetFile
    sentences: Sequence[SentenceLines]
    layout: ConllLayout
    options: NerOptions

    @functools.cached_property
    def cells_of_columns(self) -> list[tuple[str, ...]]:
        """The cells of each column, in all lines."""
        rows = (
            line.cells for sentence in self.sentences for line in sentence.lines
        )
        return [*zip(*rows, strict=True)]

    @functools.cached_property
    def tag_column_index(self) -> int | None:
        """Column of the tags, None in a test set without tags."""
        width = len(self.cells_of_columns)
        is_test = self.file.set_name == "test"
        index = _first_index(
            self.options.tag_column_index, self.layout.tag_column_index
        )
        if index is None:
            if is_test and self.layout.names:
                return None
            may_be_first = self.options.word_column_index is None
            is_first = may_be_first and _are_tags_first(self.cells_of_columns)
            index = 0 if is_first else width - 1
        has_tags = width > 1 and index < width
        return None if is_test and not has_tags else index

    @functools.cached_property
    def word_column_index(self) -> int:
        """Column of the words.

        Unless the user or a name chooses it, it is the first column that does
        not contain the tags.
        """
        index = _first_index(
            self.options.word_column_index, self.layout.word_column_index
        )
        if index is not None:
            return index
        return 1 if self.tag_column_index == 0 else 0

    @functools.cached_property
    def language(self) -> str:
        """Prefix of every word in a file of PAN-X, such as "en:", else ""."""
        words = self.cells_of_columns[self.word_column_index]
        prefix = re.match("[a-z-]+:", words[0])
        if len(self.sentences) < 2 or not prefix:
            return ""
        is_language = all(word.startswith(prefix.group()) for word in words)
        return prefix.group() if is_language else ""

    @functools.cached_property
    def tag_of_cell(self) -> Mapping[str, str]:
        """{cell of the column of the tags: its tag}, {"": "O"} without one."""
        if self.tag_column_index is None:
            return {"": "O"}
        return name_tags(
            self.file.path,
            Counter(self.cells_of_columns[self.tag_column_index]),
            self.file.labels,
            is_train=self.file.set_name == "train",
        )

    def read_word(self, line: ConllLine) -> TaggedWord:
        """Returns the word of a line, with its tag.

        Raises:
            ValueError: the word is empty, or the cell of the tag is no tag.
        """
        word = line.cells[self.word_column_index]
        cell = (
            ""
            if self.tag_column_index is None
            else line.cells[self.tag_column_index]
        )
        tag = self.tag_of_cell.get(cell)
        if not word or tag is None:
            raise ValueError(
                f"{self.file.path}, line {line.line_number}: the word is "
                f"{word!r}, and its tag is {cell!r}, but a tag is such as O, "
                "B-PER or I-PER. Set --label_column, or remove a line of "
                "column names"
            )
        return TaggedWord(word.removeprefix(self.language) or word, tag)

    def check(self) -> None:
        """Raises a ValueError if the columns do not contain words and tags.

        A column that the user chose may contain anything.
        """
        self._check_width()
        is_word_column_chosen = self.options.word_column_index is not None
        if self.layout.word_column_index is None and not is_word_column_chosen:
            self._check_words()
        if self.options.tag_column_index is None:
            # Words may look like tags: B-DNA is a form of DNA.
            self._check_nested()

    def _check_width(self) -> None:
        """Raises a ValueError if the file lacks a column of words or tags."""
        word_column_index = self.word_column_index
        tag_column_index = self.tag_column_index
        width = len(self.cells_of_columns)
        is_missing = max(word_column_index, tag_column_index or 0) >= width
        if word_column_index == tag_column_index or is_missing:
            expected = (
                f"the words are expected in column {word_column_index + 1}"
            )
            if tag_column_index is not None:
                expected += f" and the tags in column {tag_column_index + 1}"
            raise ValueError(
                f"{self.file.path}: a line must contain a word and its tag, "
                f"separated by a tab or spaces. The lines have {width} "
                f"columns, but {expected}. Set --text_column and --label_column"
            )

    def _check_words(self) -> None:
        """Raises a ValueError if the column of the words contains others.

        The column may contain the numbers of the words, or one value for all
        words of a sentence.
        """
        width = len(self.cells_of_columns)
        if width == 1:
            return
        words_of_sentences = [
            [line.cells[self.word_column_index] for line in sentence.lines]
            for sentence in self.sentences
        ]
        all_words = [*itertools.chain(*words_of_sentences)]
        if all(re.search(r"\d", word) for word in all_words):
            raise ValueError(
                f"{self.file.path}: the words, such as {all_words[:3]}, all "
                "contain a digit. Remove the digits, or set --text_column to "
                "the column of the words, even if it is this one"
            )
        # In a file of two columns, the column beside the tags contains the
        # words.
        has_others = width > 2 and len(all_words) > len(self.sentences)
        if has_others and all(
            len({*words}) == 1 for words in words_of_sentences
        ):
            raise ValueError(
                f"{self.file.path}: all words of a sentence are the same, such "
                f"as {all_words[0]!r}. Set --text_column to the column of the "
                "words"
            )

    def _check_nested(self) -> None:
        """Raises an error if another column uses an entity type of the tags.

        GermEval 2014 tags entities in one column, and entities nested in them
        in the next column. CoNLL-2003 passes, because its column of chunks uses
        types such as NP, which are not entity types.
        """
        if self.tag_column_index is None:
            return
        types = [
            {cell[2:] for cell in cells if re.match("[BIESLUM]-.", cell)}
            for cells in self.cells_of_columns
        ]
        other_types = {
            entity_type
            for index, types_of_column in enumerate(types)
            if index not in (self.word_column_index, self.tag_column_index)
            for entity_type in types_of_column
        }
        if both := types[self.tag_column_index] & other_types:
            raise ValueError(
                f"{self.file.path}: two columns contain tags of the type "
                f"{min(both)}. Set --label_column to the column to learn"
            )


def choose_columns(
    file: SetFile,
    sentences: Sequence[SentenceLines],
    layout: ConllLayout,
    options: NerOptions,
) -> ConllColumns:
    """Chooses the columns of a file, and checks that they fit.

    Args:
        file: the file, with the tags that it may contain.
        sentences: the lines of the file.
        layout: what the names of the columns show.
        options: what the user chose.

    Raises:
        ValueError: a column is missing, both are the same column, or a column
            contains something else.
    """
    columns = ConllColumns(file, sentences, layout, options)
    columns.check()
    return columns


def _first_index(*indices: int | None) -> int | None:
    """Returns the first index that is not None."""
    return next((index for index in indices if index is not None), None)


def _are_tags_first(columns: Sequence[Sequence[str]]) -> bool:
    """Returns whether the first column contains the tags, not the last one."""
    if len(columns) < 2:
        return False
    first, last = Counter(columns[0]), Counter(columns[-1])
    if all(map(is_tag, first)) and "O" in first:
        return not all(map(is_tag, last))
    # Tags without B- and I- are few, and most words are outside of entities.
    ((first_value, _),) = first.most_common(1)
    ((last_value, _),) = last.most_common(1)
    are_first = first_value == "O" and last_value != "O"
    return are_first and len(first) < len(last)
