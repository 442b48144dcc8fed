"""Finds whether the first row of a table names the columns.

First, first_cells.py judges what the first cell of each column is. Then the
columns decide together: `_RECORD_RULES` lists the rules. If they do not tell,
the user sets a flag.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from data.tables.first_cells import (
    CellKind,
    ColumnCells,
    FirstRow,
    is_word_above_texts,
)
from data.tables.rows import repeats_names


def has_header(
    path: str, rows: Sequence[Sequence[str]], columns: Collection[str]
) -> bool:
    """Returns whether the first row of a table names the columns.

    Examples:
        A number below `price` shows that `price` is a name. In the second
        table, the first row contains a text of many words and a number:

        >>> has_header("f.csv", [["text", "price"], ["It left.", "10"]], ())
        True
        >>> row = ["It left at noon again.", "7"]
        >>> has_header("f.csv", [row, ["It left.", "10"]], ())
        False

    Args:
        path: path of the file, for the error.
        rows: the first rows of the table.
        columns: names of columns that the user chose.

    Raises:
        ValueError: the rows do not show whether it does.
    """
    first, *rest = rows
    other_rows = [row for row in rest if not repeats_names(row, first)]
    cells_of_columns = [
        ColumnCells(cell, _filled_cells(other_rows, index))
        for index, cell in enumerate(first)
    ]
    is_header = _is_header(FirstRow(cells_of_columns, columns))
    if is_header is None:
        raise ValueError(
            f"{path}: nothing tells whether the first line names the columns. "
            "Set --has_header if it does, or else --nohas_header. It is "
            f"{', '.join(first)[:80]!r}"
        )
    return is_header


def _filled_cells(rows: Sequence[Sequence[str]], index: int) -> list[str]:
    return [
        row[index] for row in rows if len(row) > index and row[index].strip()
    ]


def _is_header(row: FirstRow) -> bool | None:
    """Returns whether a row names the columns, None if unknown."""
    for fits, is_header in _RECORD_RULES:
        if fits(row):
            return is_header
    return None


def _has_name_and_value(row: FirstRow) -> bool:
    """`price` above 10 and 12 is a name, but 7 beside it is above 5 and 9."""
    are_values = {CellKind.VALUE, CellKind.REPEATED} & row.kinds
    return CellKind.NAME in row.kinds and bool(are_values)


def _has_name(row: FirstRow) -> bool:
    """`price` above 10 and 12 is a name, and no other cell is of a row."""
    return CellKind.NAME in row.kinds


def _has_word_above_texts(row: FirstRow) -> bool:
    """`remark` above texts of many words is hardly one of the texts."""
    return any(map(is_word_above_texts, row.columns))


def _has_value(row: FirstRow) -> bool:
    """7 above 5 and 9 is of a row, whatever else recurs."""
    return CellKind.VALUE in row.kinds


def _has_repeated_cell_and_text(row: FirstRow) -> bool:
    """`spam` above ham and spam may name its column.

    A text beside it does not.
    """
    return CellKind.REPEATED in row.kinds and row.has_text


# (rule, whether the first row names the columns if the rule fits, None if
# that is unknown). The first rule that fits decides.
_RECORD_RULES: Final[
    tuple[tuple[Callable[[FirstRow], bool], bool | None], ...]
] = (
    (_has_name_and_value, None),
    (_has_name, True),
    (_has_word_above_texts, None),
    (_has_value, False),
    (_has_repeated_cell_and_text, False),
)
