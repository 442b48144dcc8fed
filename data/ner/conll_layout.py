"""Guesses the layout of a file of words and tags: its separator and names.

A file is a table if the cells of its first line are usual names of columns,
such as "Sentence #,Word,POS,Tag". Any other file has no names of columns, as in
CoNLL-2003.
"""

import csv
import dataclasses
import re
from collections.abc import Collection, Sequence

from data.io.text_files import NumberedLine
from data.tables import column_names
from data.tables.table_layout import (
    CHARACTER_OF_DELIMITER,
    Delimiter,
    format_of,
)

# A line that begins with this begins a document.
DOCUMENT_MARK = "-DOCSTART-"
_BLANKS = " \t"
# The characters that may separate the cells of a table, the most usual first.
_SEPARATORS = ",;\t|"


@dataclasses.dataclass(frozen=True)
class ConllLayout:
    """Separator and columns of a file. The first column has the index 0.

    Attributes:
        separator: the character between columns, None for spaces and tabs.
        width: the number of columns.
        names: the names of the columns, [] if the file has none.
        word_column_index: column of the words, None if no name shows it.
        tag_column_index: column of the tags, None if no name shows it.
        sentence_column_index: column whose cells show where a sentence
            begins, None without such a column.
    """

    separator: str | None
    width: int
    names: list[str] = dataclasses.field(default_factory=list)
    word_column_index: int | None = None
    tag_column_index: int | None = None
    sentence_column_index: int | None = None


def guess_layout(
    path: str,
    lines: Sequence[NumberedLine],
    delimiter: Delimiter | None,
    *,
    is_test: bool,
) -> ConllLayout:
    """Guesses the layout of a file from its first line with words.

    Args:
        path: a file of words and tags, whose name may end in .csv.
        lines: the lines of the file.
        delimiter: value of --delimiter, None if it is not set.
        is_test: whether the file is a test set, which may lack tags.
    """
    first = _find_first_line(lines)
    is_csv = format_of(path) in ("csv", "xlsx")
    separators = _SEPARATORS
    if delimiter:
        separators = CHARACTER_OF_DELIMITER[delimiter]
    for separator in separators:
        # A CSV file may have a single column, and no separator.
        if separator in first or is_csv:
            layout = _find_table_layout(
                separator, split_line(first, separator), is_test, is_csv
            )
            if layout:
                return layout
    columns_separator = _guess_separator(first, is_csv)
    return ConllLayout(
        columns_separator, width=len(split_line(first, columns_separator))
    )


def _find_first_line(lines: Sequence[NumberedLine]) -> str:
    """Returns the first line that contains words and does not begin with #.

    If all lines begin with #, then # is a word, not a comment.
    """
    word_lines = (
        line.text
        for line in lines
        if line.text.strip(_BLANKS) and not line.text.startswith(DOCUMENT_MARK)
    )
    return min(word_lines, key=lambda line: line[0] == "#", default="")


def _find_table_layout(
    separator: str, names: list[str], is_test: bool, is_csv: bool
) -> ConllLayout | None:
    """Returns the layout of a table by the cells of its first line.

    Returns None if the cells are no names of columns.
    """
    letters = [column_names.letters_of(name) for name in names]
    sentence_column_index = _find_sentence_column(letters)
    if sentence_column_index is not None:
        # The column contains no words, even if its name is "sentence".
        letters[sentence_column_index] = ""
    word_column_index = _find_column(column_names.WORD_NAMES, letters)
    tag_column_index = _find_column(column_names.TAG_NAMES, letters)
    # A test set may lack tags. Then a single usual name could be a word, unless
    # the file's ending says that the file is a table.
    has_tags = tag_column_index is not None
    may_lack_tags = is_test and (is_csv or sentence_column_index is not None)
    if word_column_index is None or not (has_tags or may_lack_tags):
        return None
    return ConllLayout(
        separator,
        len(names),
        names,
        word_column_index,
        tag_column_index,
        sentence_column_index,
    )


def _find_sentence_column(letters: Sequence[str]) -> int | None:
    """Returns the first column that numbers sentences, such as sentence_id."""
    pattern = column_names.SENTENCE_NUMBER
    indices = (
        index for index, name in enumerate(letters) if pattern.fullmatch(name)
    )
    sentence_column_index = next(indices, None)
    # A column named sentence contains the words if no other column does.
    if (
        sentence_column_index is not None
        and letters[sentence_column_index] == "sentence"
    ):
        other_names = {
            *letters[:sentence_column_index],
            *letters[sentence_column_index + 1 :],
        }
        if not other_names.intersection(column_names.WORD_NAMES):
            return None
    return sentence_column_index


def _find_column(names: Collection[str], letters: Sequence[str]) -> int | None:
    """Returns the index of the first of `names` that a table has."""
    return next(
        (letters.index(name) for name in names if name in letters), None
    )


def _guess_separator(first: str, is_csv: bool) -> str | None:
    """Guesses the separator of a file without names from its first line."""
    if "\t" in first.rstrip(_BLANKS):
        return "\t"
    if is_csv:
        return next((char for char in ",;|" if char in first), None)
    return None


def split_line(line: str, separator: str | None) -> list[str]:
    """Cuts a line into columns. Returns [] if all columns are empty.

    Without a separator, any number of spaces and tabs separates the columns.
    Other white space, such as a no-break space, is part of a word. If tabs
    separate the columns, a word may be a single space.
    """
    if not line.strip(_BLANKS):
        return []
    if separator is None:
        return re.findall(f"[^{_BLANKS}]+", line)
    if separator == "\t":
        return strip_cells(line.rstrip("\t").split(separator))
    cells = strip_cells(next(csv.reader([line], delimiter=separator)))
    return cells if any(cells) else []


def strip_cells(cells: Sequence[str]) -> list[str]:
    """Removes spaces around the text of cells, but not a single space."""
    return [cell.strip(" ") or cell for cell in cells]
