r"""Writes and reads the table of a test.

For example:

    rows = read_numbered_rows(tmp_path, "a.csv", "text,label\na,x\n")
"""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from data.tables.table_layout import TableLayout
from data.tables.tables import read_rows


def read_numbered_rows(
    folder: Path, name: str, data: str | bytes, **layout: Any
) -> list[tuple[int, Any]]:
    """Writes a table to a file in `folder`, and returns its (number, row)s.

    `layout` replaces fields of a TableLayout. By default nothing is known of
    the table. Raises a ValueError at the first row that is wrong.
    """
    path = write_table(folder / name, data)
    return [*_number_rows(path, layout)]


def read_table_rows(
    folder: Path, name: str, data: str | bytes, **layout: Any
) -> list[Any]:
    """Returns the rows of `read_numbered_rows`, without their numbers."""
    return [row for _, row in read_numbered_rows(folder, name, data, **layout)]


def read_file_rows(path: Path, **layout: Any) -> list[Any]:
    """Returns the rows of a file that exists, as `read_table_rows` does."""
    return [row for _, row in _number_rows(path, layout)]


def _number_rows(
    path: Path, layout: dict[str, Any]
) -> Iterator[tuple[int, Any]]:
    table_layout = TableLayout(**{"has_header": None} | layout)
    for row in read_rows(path, table_layout):
        yield row.number, row.require_cells(path)


def write_table(path: Path, data: str | bytes) -> Path:
    """Writes a text or bytes to a file, compressed in a .gz. Returns path."""
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
