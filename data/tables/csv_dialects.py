"""Guesses the dialect of CSV, TSV and the like: the delimiter and the quotes.

Python's csv must be told them. `guess_dialect` guesses them by the first 200
rows, which a `CsvSample` reads. The first line is not enough, because the name
of a column may contain a line break, and a text any delimiter.
"""

import csv
import itertools
import re
from collections.abc import (
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import NamedTuple, Protocol

from data.io import encodings
from data.tables import header_line_checks
from data.tables.rows import is_empty_row
from data.tables.table_layout import (
    CHARACTER_OF_DELIMITER,
    DELIMITER_OF_CHARACTER,
    DELIMITERS,
    TableLayout,
)

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


def guess_dialect(
    sample: CsvSample, layout: TableLayout, *, is_tsv: bool
) -> Dialect:
    r"""Guesses the dialect of a table by its first rows.

    Without the user's delimiter, the strictest dialect that fits these rows is
    chosen.

    Examples:
        Any delimiter may be in a quoted cell. Only `;` cuts these rows into
        the same number of cells:

        >>> lines = ['id;text\n', '1;"a, b"\n', '2;"c; d"\n']
        >>> sample = CsvSample("f.csv", iter(lines))
        >>> guess_dialect(sample, TableLayout(), is_tsv=False).delimiter
        ';'

    Args:
        sample: the first lines.
        layout: what the user chose. The lines show what is None in it.
        is_tsv: whether the file's name says that tabs separate the cells.

    Raises:
        ValueError: several delimiters fit equally well, or only delimiters
            other than tabs fit a .tsv file. Or none fits, and the first row
            contains several, or seems to be a title. The message names the
            flag to set.
    """
    if layout.delimiter:
        delimiter = CHARACTER_OF_DELIMITER[layout.delimiter]
        fit = _find_fitting_dialect(sample, delimiter, layout)
        return fit.dialect if fit else _choose_usual_dialect(delimiter, layout)
    delimiters = _list_delimiters(sample)
    fits = {
        delimiter: fit
        for delimiter in delimiters
        if (fit := _find_fitting_dialect(sample, delimiter, layout))
    }
    if is_tsv:
        return _choose_dialect_of_tsv(sample, layout, fits)
    if not fits:
        return _choose_by_names(sample, delimiters, layout)
    strictest = _choose_strictest(fits.values())
    if len(strictest) > 1:
        raise _unknown_delimiter_error(sample)
    return strictest[0]


class _FittingDialect(NamedTuple):
    """A dialect under which all rows have one width.

    Attributes:
        num_stray: number of quotes that quote no cell.
        level: index of the dialect in `_list_dialects`.
        dialect: the dialect.
    """

    num_stray: int
    level: int
    dialect: Dialect


def _list_delimiters(sample: CsvSample) -> list[str]:
    """Returns the delimiters that the first lines contain."""
    text = "".join(itertools.islice(sample, MAX_ROWS))
    return [
        delimiter for delimiter in DELIMITER_OF_CHARACTER if delimiter in text
    ]


def _choose_dialect_of_tsv(
    sample: CsvSample,
    layout: TableLayout,
    fits: Mapping[str, _FittingDialect],
) -> Dialect:
    """Chooses the dialect of a file whose name says that it contains tabs.

    `fits` are {delimiter: its dialect} of the delimiters that fit the first
    lines. Tabs are chosen if they fit, or if no delimiter does: then the reader
    of the rows raises an error at a malformed row. If only other delimiters
    fit, the name may be wrong, so this function raises a ValueError.
    """
    if "\t" in fits:
        return fits["\t"].dialect
    if fits:
        raise _unknown_delimiter_error(sample)
    return _choose_usual_dialect("\t", layout)


def _choose_by_names(
    sample: CsvSample,
    delimiters: Sequence[str],
    layout: TableLayout,
) -> Dialect:
    """Chooses the dialect of a malformed sample, which no dialect fits.

    The names of the columns, in the first row, show the delimiter, if they
    contain only one of `delimiters`. Without a delimiter, the table has one
    column. The reader of the rows later raises an error at a malformed row.

    Raises:
        ValueError: the first row contains several of `delimiters`, or seems to
            be a title.
    """
    rows_by_delimiter = {
        delimiter: sample.read_first_rows(
            _choose_usual_dialect(delimiter, layout)
        )
        for delimiter in delimiters
    }
    name_delimiters = [
        delimiter
        for delimiter, rows in rows_by_delimiter.items()
        if rows and len(rows[0]) > 1
    ]
    if len(name_delimiters) == 1:
        return _choose_usual_dialect(name_delimiters[0], layout)
    if name_delimiters:
        raise _unknown_delimiter_error(sample)
    for rows in rows_by_delimiter.values():
        header_line_checks.check_title(sample.path, rows, layout.columns)
    return Dialect(NO_DELIMITER, layout.quoting is not False)


def _unknown_delimiter_error(sample: CsvSample) -> ValueError:
    first_lines = itertools.islice(sample, MAX_ROWS)
    first_filled = next(filter(str.strip, first_lines), "")
    return ValueError(
        f"{sample.path}: set --delimiter to the character between the cells, "
        f"one of {' '.join(DELIMITERS)}. The first line is "
        f"{first_filled[:80]!r}"
    )


def _find_fitting_dialect(
    sample: CsvSample, delimiter: str, layout: TableLayout
) -> _FittingDialect | None:
    """Returns the strictest dialect of a delimiter that fits, or None."""
    fits: list[_FittingDialect] = []
    for level, dialect in enumerate(_list_dialects(delimiter, layout.quoting)):
        # Try backslashes only if quotes are not written twice.
        if dialect.has_escapes and any(
            not fit.dialect.has_escapes for fit in fits
        ):
            continue
        rows, does_fit = sample.try_dialect(dialect)
        if does_fit and (len(rows[0]) > 1 or layout.delimiter):
            num_stray = sample.count_stray_quotes(dialect)
            fits.append(_FittingDialect(num_stray, level, dialect))
    return min(fits, key=_strictness_of, default=None)


def _list_dialects(delimiter: str, quoting: bool | None) -> list[Dialect]:
    """Returns the dialects of a delimiter, the strictest first.

    In CSV, a quote that quotes nothing is an error, because programs that write
    CSV quote each of them. Tools that write tabs often quote nothing.
    """
    plain = Dialect(delimiter, quoting=False)
    if quoting is not None:
        return [Dialect(delimiter) if quoting else plain]
    quoted = [
        Dialect(delimiter),
        Dialect(delimiter, has_escapes=True),
        Dialect(delimiter, is_spaced=True),
        Dialect(delimiter, has_escapes=True, is_spaced=True),
    ]
    return [*quoted, plain] if delimiter in "\t|" else quoted


def _choose_usual_dialect(delimiter: str, layout: TableLayout) -> Dialect:
    return _list_dialects(delimiter, layout.quoting)[0]


def _choose_strictest(fits: Collection[_FittingDialect]) -> list[Dialect]:
    """Returns the strictest dialect, or several that are equally strict."""
    lowest = min(map(_strictness_of, fits))
    return [fit.dialect for fit in fits if _strictness_of(fit) == lowest]


def _strictness_of(fit: _FittingDialect) -> tuple[int, int]:
    """Returns the key to sort dialects by. The strictest dialect is first.

    The strictest dialect has the fewest stray quotes. Among dialects of as many
    stray quotes, the dialect of the lowest level is the strictest. For
    example, `,` cuts `x,"a; b"` into x and "a; b", and `;` cuts it into `x,"a`
    and ` b"`. Both fit, but `;` leaves two quotes that quote no cell. So `,` is
    stricter.
    """
    return fit.num_stray, fit.level
