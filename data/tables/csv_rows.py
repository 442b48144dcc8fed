"""Reads the rows of CSV, TSV and the like: the first ones, or all of them.

A row here is the list of its cells. `TableSample` reads the first rows in each
dialect that dialects.py tries. `parse_rows` reads all rows in the right one.
"""

import csv
import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from data.io import encodings
from data.tables.rows import is_empty_row

# Stands between the cells of a table of one column. No text contains it.
NO_DELIMITER = "\ud800"
# Stands for a quote after a backslash while csv parses the line.
_QUOTE = "\ud801"
_ESCAPED = re.compile(r'\\([\\"])')
# Number of rows that show how a table is written.
MAX_ROWS = 200
_MAX_CHARACTERS = 1 << 20
# A cell that a program quoted. The program wrote each quote in it twice.
_CELL_OF_DOUBLED_QUOTES = re.compile(r'"(?=.*"").*"', re.DOTALL)
# Excel takes the delimiter from a line such as sep=; above the names.
_DELIMITER_HINT = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


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
    reader = _create_reader(lines, dialect)
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


class TableSample:
    """Reads the first lines of a table, and no more lines than needed.

    Attributes:
        lines_read: the lines that were read so far.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._size = 0
        self.lines_read: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Yields the first lines, beginning with the lines read so far."""
        yield from self.lines_read
        while self._size <= _MAX_CHARACTERS:
            line = next(self._lines, None)
            if line is None:
                return
            self._size += len(line)
            self.lines_read.append(line)
            yield line

    def all_lines(self) -> Iterator[str]:
        """Returns all lines of the table. Then the sample reads no more."""
        return itertools.chain(self.lines_read, self._lines)

    def read_first_rows(self, dialect: Dialect) -> list[list[str]]:
        """Returns the first rows, up to the first malformed row."""
        return self.try_dialect(dialect)[0]

    def try_dialect(self, dialect: Dialect) -> tuple[list[list[str]], bool]:
        """Returns the first rows, and whether the dialect fits them.

        If it fits, no row is malformed, and all have one width.
        """
        rows: list[list[str]] = []
        reader = filter(None, _create_reader(self, dialect))
        # A spreadsheet writes empty cells for empty rows above a table.
        filled = itertools.dropwhile(is_empty_row, reader)
        try:
            rows.extend(itertools.islice(filled, MAX_ROWS))
        except csv.Error:
            return rows, False
        has_one_width = len({*map(len, rows)}) == 1
        if dialect.quoting:
            return rows, has_one_width
        cells = itertools.chain.from_iterable(rows)
        has_doubled_quotes = any(map(_CELL_OF_DOUBLED_QUOTES.fullmatch, cells))
        return rows, has_one_width and not has_doubled_quotes

    def take_hint(self, delimiters: Container[str]) -> str | None:
        """Returns the delimiter of a first line such as sep=;, or else None.

        Empties this line, which is no row. A character that is not in
        `delimiters` is no hint.
        """
        match = _DELIMITER_HINT.fullmatch(next(iter(self), ""))
        if not match or match[1] not in delimiters:
            return None
        self.lines_read[0] = "\n"
        return match[1]

    def check_encoding(self, path: str, encoding: str | None) -> None:
        """Checks the encoding of the lines that are read so far.

        Raises:
            ValueError: a line was wrongly encoded.
        """
        wrong_lines = (
            line_number
            for line_number, line in enumerate(self.lines_read, 1)
            if _has_wrong_bytes(line)
        )
        if line_number := next(wrong_lines, None):
            # Many words show the likely encodings better than one.
            try:
                encodings.check_encoding("".join(self.lines_read), encoding)
            except ValueError as error:
                raise ValueError(
                    f"{path}, line {line_number}: {error}"
                ) from None

    def count_stray_quotes(self, dialect: Dialect) -> int:
        """Returns how many quotes in the lines read so far quote no cell."""
        if not dialect.quoting:
            return 0
        text = "".join(self.lines_read)
        if dialect.has_escapes:
            text = _hide_escaped(text)
        delimiter = re.escape(dialect.delimiter)
        blanks = " *" if dialect.is_spaced else ""
        # A cell may be a whole document: `[^"]*` is faster than `(?:[^"]|"")*`.
        cell = '"[^"]*(?:""[^"]*)*"'
        quoted = (
            rf"(?:(?<={delimiter})|^){blanks}{cell}(?={delimiter}|[\r\n]|\Z)"
        )
        return re.sub(quoted, "", text, flags=re.MULTILINE).count('"')


def _has_wrong_bytes(line: str) -> bool:
    """Returns whether lone surrogates stand for wrong bytes in a line."""
    return bool(re.search("[\udc80-\udcff]", line))


class _CsvReader(Protocol):
    """A reader of csv, whose own class is private."""

    @property
    def line_num(self) -> int:
        """Number of lines that were read so far."""

    def __iter__(self) -> Iterator[list[str]]:
        """Iterates over the rows."""

    def __next__(self) -> list[str]:
        """Returns the cells of the next row."""


def _create_reader(lines: Iterable[str], dialect: Dialect) -> _CsvReader:
    """Returns csv's reader of the rows of lines in a dialect."""
    # A cell may be a whole document, longer than csv's 131,072 characters.
    csv.field_size_limit(2**31 - 1)
    if dialect.has_escapes:
        lines = map(_hide_escaped, lines)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quoting else csv.QUOTE_NONE,
        skipinitialspace=dialect.is_spaced,
        strict=True,
    )


def _hide_escaped(line: str) -> str:
    r"""Replaces each `\"` by _QUOTE, and each `\\` by a backslash."""

    def hide(match: re.Match[str]) -> str:
        return _QUOTE if match[1] == '"' else "\\"

    return _ESCAPED.sub(hide, line) if "\\" in line else line
