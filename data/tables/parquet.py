"""Reads the rows and the columns of Parquet files."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from data.io import text_files
from data.tables.rows import NumberedRow, unique_keys, without_nan
from dependencies.installation import install_command
from files.json_files import JsonObject
from files.paths import StrPath

if TYPE_CHECKING:
    import pyarrow.parquet


def read_parquet(
    path: StrPath, row_groups: Sequence[int] | None = None, first: int = 1
) -> Iterator[NumberedRow]:
    """Yields the rows of a file of Parquet.

    Args:
        path: path of a local file.
        row_groups: numbers of the groups of rows to read. If None, all
            are read.
        first: number of the first row.
    """
    with open_parquet(path) as table:
        row_number = first - 1
        for batch in table.iter_batches(256, row_groups):
            keys = unique_keys(batch.schema.names)
            columns = [_convert_column(column) for column in batch.columns]
            for cells in zip(*columns, strict=True):
                row_number += 1
                row = dict(zip(keys, cells, strict=True))
                yield NumberedRow(row_number, without_nan(row))


@contextlib.contextmanager
def open_parquet(path: StrPath) -> Iterator["pyarrow.parquet.ParquetFile"]:
    """Opens a file of Parquet as a pyarrow.parquet.ParquetFile.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged, or the package is missing.
    """
    try:
        # An optional package.
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path} needs pyarrow: {install_command('pyarrow')}"
        ) from None
    with text_files.open_binary(path) as file:
        try:
            table = pyarrow.parquet.ParquetFile(file)
        except pyarrow.ArrowException as error:
            raise ValueError(f"{path}: {error}") from error
        yield table


def read_empty_row(path: StrPath) -> JsonObject:
    """Returns a row of empty cells: {column: None or {inner column: None}}.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is damaged, or the package is missing.
    """
    with open_parquet(path) as table:
        schema = table.schema_arrow
        types = [schema.field(index).type for index in range(len(schema))]
        cells = map(_create_empty_cell, types)
        return dict(zip(unique_keys(schema.names), cells, strict=True))


def _create_empty_cell(
    cell_type: "pyarrow.DataType",
) -> dict[str, None] | None:
    if not str(cell_type).startswith("struct<"):
        return None
    return {field.name: None for field in cell_type} or None


def _convert_column(column: "pyarrow.Array") -> list[object]:
    """Returns the cells of a column, as text if Python lacks their values."""
    try:
        cells: list[object] = column.to_pylist()
    except (ValueError, OverflowError):
        # Python's dates have no nanoseconds, and end with the year 9999.
        cells = column.cast("string").to_pylist()
    return cells
