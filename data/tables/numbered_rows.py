"""Defines what the readers of all formats yield for a row of a table."""

from typing import TypeAlias

from files.json_files import JsonObject

# A row: (number of its first line, {column: cell}). If the row is malformed, a
# ValueError replaces the dict.
NumberedRow: TypeAlias = tuple[int, JsonObject | ValueError]


def require_cells(row: JsonObject | ValueError, where: str) -> JsonObject:
    """Returns the cells of a row, {column: cell}.

    Args:
        row: what a reader has yielded beside the number of the row.
        where: the file and the line, for the message.

    Raises:
        ValueError: the row is malformed.
    """
    if isinstance(row, ValueError):
        raise ValueError(f"{where}: {row}")
    return row
