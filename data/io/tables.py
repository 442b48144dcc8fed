"""Tables by column names: CSV, TSV and JSON lines.

UTF-8, with or without a byte-order mark; errors name the file and the line.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from data.io import text_files
from files.json_files import parse_json
from files.paths import StrPath


def read_table(
    path: StrPath,
    text_columns: Sequence[str],
    columns: Sequence[str] = (),
    quoting: bool = True,
    optional_columns: Sequence[str] = (),
) -> Iterator[tuple[str, list[Any]]]:
    """Yields the cells of some columns of a table, line by line.

    The first line names the columns. If the columns are given by number,
    from 1, the table has no such line.

    Args:
        path: a file that ends in `.csv`, `.tsv` or, for JSON objects, one a
            line, `.jsonl`.
        text_columns: columns whose cells must be text, at least one.
        columns: other columns; their cells may be of any type in JSON.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets
            write them; otherwise it is an ordinary character.
        optional_columns: other columns that the table, or a JSON object in it,
            may lack.

    Yields:
        (where, cells): the file and line, for messages; and a list of one cell
        for each column, in the order of the arguments, None for one that is
        missing.

    Raises:
        OSError: the file cannot be read.
        ValueError: a column is missing, or a line is malformed.
    """
    columns = [*text_columns, *columns]
    path = str(path)
    # Some editors begin a file with a byte order mark.
    lines = (
        line if number > 1 else line.removeprefix("\ufeff")
        for number, line in text_files.read_numbered(path, is_quoted=True)
    )
    if path.endswith(".jsonl"):
        found = _read_json_lines(path, lines, columns, optional_columns)
    else:
        rows = _read_separated(path, lines, quoting)
        found = _select_columns(rows, columns, optional_columns)
    for where, cells in found:
        for column, cell in zip(text_columns, cells, strict=False):
            if not isinstance(cell, str):
                raise ValueError(
                    f"{where}, column {column!r}: the text must be a string. "
                    f"Received: {str(cell)[:80]}"
                )
        yield where, cells


def _read_separated(
    path: str, lines: Iterable[str], quoting: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yields (where, all cells) for each line of CSV or TSV, of one width."""
    # A cell may be a whole document; by default 131,072 characters are the end.
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(
        (line + "\n" for line in lines),
        delimiter="\t" if path.endswith(".tsv") else ",",
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )
    width = None
    while True:
        # A quoted cell may span lines: the first one counts.
        where = f"{path}, line {reader.line_num + 1}"
        try:
            row = next(reader, None)
        except csv.Error as error:
            problem = (
                f"{error}; is a quote missing, or is the table not quoted at "
                "all (then turn quoting off)?"
            )
            if "new-line character" in str(error):
                problem = text_files.CARRIAGE_RETURN
            raise ValueError(f"{where}: {problem}") from None
        if row is None:
            return
        if not row:
            continue
        width = width or len(row)
        _check_width(row, width, where)
        yield where, row


def _check_width(row: list[str], width: int, where: str) -> None:
    if len(row) != width:
        raise ValueError(
            f"{where}: the line has {len(row)} columns, where {width} are "
            f"needed. Received: {row}"[:300]
        )


def _select_columns(
    rows: Iterable[tuple[str, list[str]]],
    columns: Sequence[str],
    optional_columns: Sequence[str],
) -> Iterator[tuple[str, list[Any]]]:
    """Yields (where, cells of the columns) out of (where, all cells)."""
    wanted = [*columns, *optional_columns]
    indexes = None
    if all(column.isdecimal() and int(column) > 0 for column in wanted):
        indexes = [int(column) - 1 for column in wanted]
    for where, row in rows:
        if indexes is None:
            indexes = [_find_column(row, column, where) for column in columns]
            indexes += [
                _find_column(row, column, where) if column in row else len(row)
                for column in optional_columns
            ]
            continue
        num_needed = max(indexes[: len(columns)]) + 1
        _check_width(row, max(len(row), num_needed), where)
        yield (
            where,
            [row[index] if index < len(row) else None for index in indexes],
        )


def _find_column(header: list[str], column: str, where: str) -> int:
    """Returns the index of the only column with this name."""
    if header.count(column) != 1:
        raise ValueError(
            f"{where}: the table must have one column {column!r}; its "
            f"first line names {header}. Give the columns' names, or "
            "their numbers if the table does not name them; commas part the "
            "columns of .csv, and tabs those of .tsv"
        )
    return header.index(column)


def _read_json_lines(
    path: str,
    lines: Iterable[str],
    columns: Sequence[str],
    optional_columns: Sequence[str],
) -> Iterator[tuple[str, list[Any]]]:
    """Yields (where, values of the columns) for each line of JSON."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        content = parse_json(line, where)
        for column in columns:
            if column not in content:
                raise ValueError(
                    f"{where}: there is no {column!r} among its fields "
                    f"{list(content)}"
                )
        cells = [content[column] for column in columns]
        yield where, cells + [content.get(name) for name in optional_columns]
