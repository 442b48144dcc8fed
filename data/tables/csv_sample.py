"""Reads rows of CSV in a dialect, and tries dialects on the first lines.

Python's csv must be told the dialect: the delimiter and the quotes. A
`CsvSample` reads no more lines than are needed to guess it.
"""

import csv
import itertools
import re
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple, Protocol

from data.io import encodings
from data.tables.rows import is_empty_row

# Stands between the cells of a table of one column. No text contains it.
NO_DELIMITER = "\ud800"
# Number of rows that show how a table is written.
MAX_ROWS = 200
_MAX_CHARACTERS = 1 << 20
# A cell that a program quoted. The program wrote each quote in it twice.
_CELL_OF_DOUBLED_QUOTES = re.compile(r'"(?=.*"").*"', re.DOTALL)
# Excel takes the delimiter from a line such as sep=; above the names.
_DELIMITER_HINT = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
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


class DialectTrial(NamedTuple):
    """The first rows of a table, as a dialect reads them.

    Attributes:
        first_rows: the cells of each row.
        does_fit: whether no row is malformed, and all have one width.
    """

    first_rows: list[list[str]]
    does_fit: bool


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


def show_escaped(row: list[str]) -> list[str]:
    """Returns the cells of a row of `create_reader`, with their quotes."""
    return [cell.replace(_QUOTE, '"') for cell in row]


class CsvSample:
    """The first lines of a table, of which no more are read than needed.

    Attributes:
        path: path of the file, for messages.
        lines_read: the lines that were read so far.
    """

    def __init__(self, path: str, lines: Iterator[str]) -> None:
        self.path = path
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
        return self.try_dialect(dialect).first_rows

    def try_dialect(self, dialect: Dialect) -> DialectTrial:
        """Reads the first rows in a dialect, up to the first malformed row."""
        rows: list[list[str]] = []
        reader = filter(None, create_reader(self, dialect))
        # A spreadsheet writes empty cells for empty rows above a table.
        filled = itertools.dropwhile(is_empty_row, reader)
        try:
            rows.extend(itertools.islice(filled, MAX_ROWS))
        except csv.Error:
            return DialectTrial(rows, does_fit=False)
        has_one_width = len({*map(len, rows)}) == 1
        if dialect.quoting:
            return DialectTrial(rows, has_one_width)
        cells = itertools.chain.from_iterable(rows)
        has_doubled_quotes = any(map(_CELL_OF_DOUBLED_QUOTES.fullmatch, cells))
        return DialectTrial(rows, has_one_width and not has_doubled_quotes)

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

    def check_encoding(self, encoding: str | None) -> None:
        """Checks the encoding of the lines that are read so far.

        Raises:
            ValueError: a line was wrongly encoded.
        """
        # Lone surrogates stand for wrong bytes.
        wrong_lines = (
            line_number
            for line_number, line in enumerate(self.lines_read, 1)
            if re.search("[\udc80-\udcff]", line)
        )
        if line_number := next(wrong_lines, None):
            # Many words show the likely encodings better than one.
            try:
                encodings.check_encoding("".join(self.lines_read), encoding)
            except ValueError as error:
                raise ValueError(
                    f"{self.path}, line {line_number}: {error}"
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
