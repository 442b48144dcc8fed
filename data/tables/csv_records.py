"""Reads the records of CSV, TSV and the like, whose marks are known.

dialects.py finds the marks of a table.
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
        escapes: whether `\"` is a quote in a quoted cell, and not its end.
        is_spaced: whether blanks may stand between a delimiter and a quote.
    """

    delimiter: str
    quoting: bool = True
    escapes: bool = False
    is_spaced: bool = False


class RecordReader(Protocol):
    """A reader of csv, whose own class is private."""

    @property
    def line_num(self) -> int:
        """Number of lines that were read so far."""

    def __iter__(self) -> Iterator[list[str]]:
        """Iterates over the records."""

    def __next__(self) -> list[str]:
        """Returns the cells of the next record."""


class MalformedRecord(NamedTuple):
    """A record in which a quote is not closed, or stands where none may be.

    Attributes:
        reason: what csv says about the quote.
        spans_lines: whether several lines were read for the record. Then
            nothing shows where the next record begins.
    """

    reason: str
    spans_lines: bool

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


def parse_records(
    lines: Iterable[str], dialect: Dialect
) -> Iterator[tuple[int, list[str] | MalformedRecord]]:
    """Yields (number of its first line, cells) of each record.

    A quoted cell may contain line breaks.
    """
    reader = create_record_reader(lines, dialect)
    while True:
        line_number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            # A table of one column has no delimiter that can be shown.
            reason = str(error).replace(f"'{NO_DELIMITER}'", "a line end")
            spans_lines = reader.line_num > line_number
            yield line_number, MalformedRecord(reason, spans_lines)
            continue
        if cells is None:
            return
        yield line_number, _show_escaped(cells) if dialect.escapes else cells


def create_record_reader(
    lines: Iterable[str], dialect: Dialect
) -> RecordReader:
    """Returns csv's reader of the records of lines in a dialect."""
    # A cell may be a whole document, longer than csv's 131,072 characters.
    csv.field_size_limit(2**31 - 1)
    if dialect.escapes:
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


def _show_escaped(row: list[str]) -> list[str]:
    """Returns the cells of a record whose dialect `escapes`."""
    return [cell.replace(_QUOTE, '"') for cell in row]


def is_swallowed(row: Sequence[str], delimiter: str) -> bool:
    r"""Returns whether a quoted cell contains the next lines of the table.

    If two lines contain a stray quote each, csv reads the text between the two
    quotes as one cell, with as many tabs as the lines have. Commas are not
    counted, because a text may contain as many commas.

    Examples:
        >>> is_swallowed(["a", "b\nc\td"], delimiter="\t")
        True
        >>> is_swallowed(["a", "b c d"], delimiter="\t")
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
