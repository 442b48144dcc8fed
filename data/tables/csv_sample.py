"""Reads the first lines of CSV, TSV and the like, which show the dialect."""

import csv
import itertools
import re
from collections.abc import Container, Iterator

from data.io import encodings
from data.tables.csv_rows import Dialect, create_reader, hide_escaped
from data.tables.rows import is_empty_row

# Number of rows that show how a table is written.
MAX_ROWS = 200
_MAX_CHARACTERS = 1 << 20
# A cell that a program quoted. The program wrote each quote in it twice.
_CELL_OF_DOUBLED_QUOTES = re.compile(r'"(?=.*"").*"', re.DOTALL)
# Excel takes the delimiter from a line such as sep=; above the names.
_DELIMITER_HINT = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


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
        return self.try_dialect(dialect)[0]

    def try_dialect(self, dialect: Dialect) -> tuple[list[list[str]], bool]:
        """Returns the first rows, and whether the dialect fits them.

        If it fits, no row is malformed, and all have one width.
        """
        rows: list[list[str]] = []
        reader = filter(None, create_reader(self, dialect))
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

    def check_encoding(self, encoding: str | None) -> None:
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
                    f"{self.path}, line {line_number}: {error}"
                ) from None

    def count_stray_quotes(self, dialect: Dialect) -> int:
        """Returns how many quotes in the lines read so far quote no cell."""
        if not dialect.quoting:
            return 0
        text = "".join(self.lines_read)
        if dialect.has_escapes:
            text = hide_escaped(text)
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
