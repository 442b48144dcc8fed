"""Tables by column names: CSV, TSV and JSON lines.

UTF-8, with or without a byte-order mark; errors name the file and the line.
"""

import collections
import csv
import json

from absl import logging

from data import files


def read_table(path, columns, quoting=True):
    """Yields the cells of some columns of a table, line by line.

    The first line names the columns. If the columns are given by number,
    from 1, the table has no such line.

    Args:
        path: a file that ends in `.csv`, `.tsv` or, for JSON objects, one a
            line, `.jsonl`.
        columns: list of str.
        quoting: whether `"` quotes cells of CSV and TSV, as spreadsheets
            write them; otherwise it is a character as any other.

    Yields:
        (where, cells): the file and line, for messages; and a list of str,
        one for each column. Cells of JSON may be of any type.

    Raises:
        OSError: the file cannot be read.
        ValueError: a column is missing, or a line is not as it should be.
    """
    path = str(path)
    dropped = collections.Counter()
    lines = _without_mark(files.read_lines(path, dropped))
    if path.endswith(".jsonl"):
        yield from _read_json_lines(path, lines, columns)
    else:
        yield from _read_separated(path, lines, columns, quoting)
    if warning := files.dropped_bytes_warning(dropped):
        logging.warning(warning)


def _read_separated(path, lines, columns, quoting):
    """Yields (where, cells of the columns) for each line of CSV or TSV."""
    reader = csv.reader(
        (line + "\n" for line in lines),
        delimiter="\t" if path.endswith(".tsv") else ",",
        quoting=csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE,
        strict=True,
    )
    places = width = None
    if all(column.isdecimal() and int(column) > 0 for column in columns):
        places = [int(column) - 1 for column in columns]
    while True:
        # A quoted cell may span lines: the first one counts.
        where = f"{path}, line {reader.line_num + 1}"
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(
                f"{where}: {error}; is a quote missing, or is the table "
                "not quoted at all (then turn quoting off)?"
            ) from None
        if row is None:
            return
        if not row:
            continue
        width = width or len(row)
        if places is None:
            places = _find_columns(row, columns, where)
            continue
        if len(row) != width or max(places) >= width:
            raise ValueError(
                f"{where}: the line has {len(row)} columns, where "
                f"{max(width, max(places) + 1)} are needed. Received: "
                f"{row}"[:300]
            )
        yield where, [row[place] for place in places]


def _find_columns(header, columns, where):
    """Returns the places of columns that the header names."""
    for column in columns:
        if header.count(column) != 1:
            raise ValueError(
                f"{where}: the table must have one column {column!r}; its "
                f"first line names {header}. Give the columns' names, or "
                "their numbers if the table does not name them"
            )
    return [header.index(column) for column in columns]


def _read_json_lines(path, lines, columns):
    """Yields (where, values of the columns) for each line of JSON."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            content = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{where}: not JSON: {error}") from None
        if not isinstance(content, dict):
            raise ValueError(f"{where}: not a JSON object: {line[:80]}")
        for column in columns:
            if column not in content:
                raise ValueError(
                    f"{where}: there is no {column!r} among its fields "
                    f"{list(content)}"
                )
        yield where, [content[column] for column in columns]


def _without_mark(lines):
    """Drops the byte-order mark that some editors begin a file with."""
    for number, line in enumerate(lines):
        yield line if number else line.removeprefix("\ufeff")
