"""Parses the lines of CSV, TSV and the like, in a dialect that is known.

A row here is the list of its cells.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

# Stands between the cells of a table of one column. No text contains it.
NO_DELIMITER = "\ud800"
# Stands for a quote after a backslash while csv parses the line.
_QUOTE = "\ud801"
_ESCAPED = re.compile(r'\\([\\"])')


class Dialect(NamedTuple):
    r"""The marks between and around the cells of a table.

    Attributes:
        delimiter: character between cells.
        quoting: whether `"` quotes cells.
        has_escapes: whether `\"` is a quote in a quoted cell, and not its end.
        is_spaced: whether blanks may stand between a delimiter and a quote.
    """

    delimiter: str
    quoting: bool = True
    has_escapes: bool = False
    is_spaced: bool = False


class MalformedRow(NamedTuple):
    """A row in which a quote is not closed, or stands where none may be.

    Attributes:
        reason: what csv says about the quote.
        is_multiline: whether several lines were read for the row. Then
            nothing shows where the next row begins.
    """

    reason: str
    is_multiline: bool

    def explain(self, flag: str | None = None) -> str:
        """Returns what is wrong, and what to do.

        `flag` makes quotes ordinary characters, None if there is no such flag.
        """
        close = f"{self.reason}. Close the quote"
        double = 'write a quote in a quoted cell twice ("")'
        if flag is None:
            return f"{close}, or {double}"
        return (
            f"{close}, {double}, or set {flag} if quotes are ordinary "
            "characters in this table"
        )


def parse_rows(
    lines: Iterable[str], dialect: Dialect
) -> Iterator[tuple[int, list[str] | MalformedRow]]:
    """Yields (number of its first line, cells) of each row.

    A quoted cell may contain line breaks.
    """
    reader = create_reader(lines, dialect)
    while True:
        line_number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            # A table of one column has no delimiter that can be shown.
            reason = str(error).replace(f"'{NO_DELIMITER}'", "a line end")
            is_multiline = reader.line_num > line_number
            yield line_number, MalformedRow(reason, is_multiline)
            continue
        if cells is None:
            return
        yield (
            line_number,
            _show_escaped(cells) if dialect.has_escapes else cells,
        )


def _show_escaped(row: list[str]) -> list[str]:
    """Returns the cells of a row whose dialect `has_escapes`."""
    return [cell.replace(_QUOTE, '"') for cell in row]


def has_swallowed_lines(row: Sequence[str], delimiter: str) -> bool:
    r"""Returns whether a quoted cell contains the next lines of the table.

    If two lines contain a stray quote each, csv reads the text between the two
    quotes as one cell, with as many tabs as the lines have. Commas are not
    counted, because a text may contain as many commas.

    Examples:
        >>> has_swallowed_lines(["a", "b\nc\td"], delimiter="\t")
        True
        >>> has_swallowed_lines(["a", "b c d"], delimiter="\t")
        False
    """
    if delimiter not in "\t|":
        return False
    num_delimiters_of_line = len(row) - 1
    for cell in row:
        num_line_ends = len(cell.splitlines()) - 1
        expected = num_line_ends * num_delimiters_of_line
        if expected > 0 and cell.count(delimiter) == expected:
            return True
    return False


class _CsvReader(Protocol):
    """A reader of csv, whose own class is private."""

    @property
    def line_num(self) -> int:
        """Number of lines that were read so far."""

    def __iter__(self) -> Iterator[list[str]]:
        """Iterates over the rows."""

    def __next__(self) -> list[str]:
        """Returns the cells of the next row."""


def create_reader(lines: Iterable[str], dialect: Dialect) -> _CsvReader:
    """Returns csv's reader of the rows of lines in a dialect."""
    # A cell may be a whole document, longer than csv's 131,072 characters.
    csv.field_size_limit(2**31 - 1)
    if dialect.has_escapes:
        lines = map(hide_escaped, lines)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoting else csv.QUOTE_NONE,
        skipinitialspace=dialect.is_spaced,
        strict=True,
    )


def hide_escaped(line: str) -> str:
    r"""Replaces each `\"` by _QUOTE, and each `\\` by a backslash."""

    def hide(match: re.Match[str]) -> str:
        return _QUOTE if match[1] == '"' else "\\"

    return _ESCAPED.sub(hide, line) if "\\" in line else line
