"""Reads CSV, TSV and the like: guesses how a table is written, and parses it.

`read_csv` yields rows by the names of the columns. `open_csv` does the first
half: it leaves the cells of a row in a list, and the names among the rows.
"""

import csv
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple

from data.io import encodings
from data.tables import csv_dialects, csv_sample, header_detection, table_checks
from data.tables.csv_sample import NO_DELIMITER, CsvSample, Dialect
from data.tables.rows import (
    NumberedCells,
    NumberedRow,
    RowBuilder,
    compute_common_width,
    is_empty_row,
    malformed_row_error,
)
from data.tables.table_layout import (
    CHARACTER_OF_DELIMITER,
    DELIMITER_OF_CHARACTER,
    TableLayout,
)
from files.json_files import JsonObject
from files.paths import StrPath


class MalformedRow(NamedTuple):
    """A row in which a quote is not closed, or stands where none may be.

    Attributes:
        line_number: number of the first line of the row.
        reason: what csv says about the quote.
        is_multiline: whether several lines were read for the row. Then
            nothing shows where the next row begins.
    """

    line_number: int
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


@dataclasses.dataclass(frozen=True)
class CsvTable:
    """A table of CSV or TSV, and how it is written.

    Attributes:
        lines: all lines of the file, also those that were read to guess how it
            is written.
        dialect: the marks between and around the cells.
        has_header: whether the first row names the columns.
        width: number of cells of at least half of the first rows. 0 if they
            have no common width, None if no row was read.
    """

    lines: Iterator[str]
    dialect: Dialect
    has_header: bool
    width: int | None

    def parse_rows(self) -> Iterator[NumberedCells | MalformedRow]:
        """Yields each row, once.

        A quoted cell may contain line breaks.
        """
        has_escapes = self.dialect.has_escapes
        reader = csv_sample.create_reader(self.lines, self.dialect)
        while True:
            line_number = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                # A table of one column has no delimiter that can be shown.
                reason = str(error).replace(f"'{NO_DELIMITER}'", "a line end")
                is_multiline = reader.line_num > line_number
                yield MalformedRow(line_number, reason, is_multiline)
                continue
            if cells is None:
                return
            if has_escapes:
                cells = csv_sample.show_escaped(cells)
            yield NumberedCells(line_number, cells)


def open_csv(
    path: str, lines: Iterator[str], layout: TableLayout, *, is_tsv: bool
) -> CsvTable:
    r"""Guesses how a table is written, unless the user chose all of it.

    Examples:
        >>> lines = ['id;text\n', '1;"a, b"\n', '2;"c; d"\n']
        >>> table = open_csv("f.csv", iter(lines), TableLayout(), is_tsv=False)
        >>> table.dialect.delimiter, table.has_header, table.width
        (';', True, 2)
        >>> [row.cells for row in table.parse_rows()]
        [['id', 'text'], ['1', 'a, b'], ['2', 'c; d']]

    Args:
        path: path of the file, for messages.
        lines: lines of the file with their ends.
        layout: what the user chose. The lines show what is None in it.
        is_tsv: whether the file's name says that tabs separate the cells.

    Raises:
        ValueError: nothing shows the delimiter or the header, or the first line
            is a title. The message names the flag to set.
    """
    is_complete = layout.quoting is not None and layout.has_header is not None
    if layout.delimiter and is_complete:
        delimiter = CHARACTER_OF_DELIMITER[layout.delimiter]
        dialect = Dialect(delimiter, bool(layout.quoting))
        return CsvTable(lines, dialect, bool(layout.has_header), width=None)
    sample = CsvSample(path, lines)
    hint = sample.take_hint(DELIMITER_OF_CHARACTER)
    if hint and not layout.delimiter:
        layout = layout._replace(delimiter=DELIMITER_OF_CHARACTER[hint])
    try:
        return _open_by_sample(sample, layout, is_tsv=is_tsv)
    except ValueError:
        # In another encoding, nothing is what it seems to be.
        sample.check_encoding(layout.encoding)
        raise


def _open_by_sample(
    sample: CsvSample, layout: TableLayout, *, is_tsv: bool
) -> CsvTable:
    """Guesses the dialect and the header by the first lines of a table."""
    path = sample.path
    first_lines = [*itertools.islice(sample, 3)]
    table_checks.check_first_lines(path, first_lines)
    dialect = csv_dialects.guess_dialect(sample, layout, is_tsv=is_tsv)
    rows = sample.read_first_rows(dialect)
    if layout.quoting is not False:
        table_checks.check_quotes(path, rows)
        table_checks.check_apostrophes(path, rows)
    if not layout.delimiter:
        _check_delimiter(sample, rows)
    has_header = header_detection.decide_header(
        path,
        rows,
        layout.has_header,
        chosen_names=layout.columns,
        first_lines=first_lines,
    )
    width = compute_common_width([*map(len, rows)]) if rows else None
    return CsvTable(sample.all_lines(), dialect, has_header, width)


def _check_delimiter(sample: CsvSample, rows: Sequence[Sequence[str]]) -> None:
    """Checks that no mark that is not a delimiter separates the cells.

    Raises:
        ValueError: such a mark seems to separate them, for example a blank.
    """
    has_one_column = not any(any(row[1:]) for row in rows)
    if has_one_column:
        rows_by_blanks = sample.read_first_rows(Dialect(" "))
        table_checks.check_blanks(
            sample.path, sample.lines_read, rows_by_blanks
        )
    table_checks.check_one_column(sample.path, rows)


def read_csv(
    path: StrPath, lines: IO[str], layout: TableLayout, *, is_tsv: bool
) -> Iterator[NumberedRow]:
    """Yields the rows of CSV or TSV, as `tables.read_rows` does."""
    table = open_csv(str(path), lines, layout, is_tsv=is_tsv)
    rows = table.parse_rows()
    names: list[str] = []
    if table.has_header:
        names = _read_names(path, rows, layout.encoding)
    builder = RowBuilder(
        names,
        table.width,
        # A text may contain commas, but hardly tabs.
        may_be_wider=table.dialect.delimiter == "\t",
    )
    for row in rows:
        if isinstance(row, MalformedRow):
            explanation = row.explain("--noquoting")
            if row.is_multiline:
                raise ValueError(
                    f"{path}, line {row.line_number}: {explanation}"
                )
            yield NumberedRow(row.line_number, ValueError(explanation))
        elif row.cells:
            yield NumberedRow(
                row.number,
                _build_row(table, builder, row.cells, layout.encoding),
            )


def _read_names(
    path: StrPath,
    rows: Iterable[NumberedCells | MalformedRow],
    encoding: str | None,
) -> list[str]:
    """Returns the cells of the first row that is not empty."""
    for row in rows:
        if isinstance(row, MalformedRow):
            raise ValueError(
                f"{path}, line {row.line_number}: {row.explain('--noquoting')}"
            )
        if is_empty_row(row.cells):
            continue
        if error := _find_encoding_error(" ".join(row.cells), encoding):
            raise ValueError(f"{path}, line {row.number}: {error}")
        return row.cells
    return []


def _build_row(
    table: CsvTable,
    builder: RowBuilder,
    cells: list[str],
    encoding: str | None,
) -> JsonObject | ValueError:
    """Returns a row, or an error if its cells are no row or wrongly encoded."""
    text = " ".join(cells)
    if error := _find_encoding_error(text, encoding):
        return error
    row = builder.build(cells)
    if (
        table.has_header
        and "\n" in text
        and not isinstance(row, ValueError)
        and has_swallowed_lines(cells, table.dialect.delimiter)
    ):
        return malformed_row_error(
            "a quoted cell contains the next lines of the table. If quotes are "
            "ordinary characters here, set --noquoting. Otherwise replace the "
            "tabs in the cell by spaces",
            cells,
        )
    return row


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


def _find_encoding_error(text: str, encoding: str | None) -> ValueError | None:
    """Returns the error of a text that was wrongly encoded, or None."""
    if text.isascii():
        return None
    try:
        encodings.check_encoding(text, encoding)
    except ValueError as error:
        return error
    return None
