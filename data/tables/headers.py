"""Finds whether the first record of a table names the columns.

First, first_cells.py judges what the first cell of each column is. Then the
columns decide together: `_RECORD_RULES` lists the rules. If they do not tell,
the user sets a flag.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from data.tables.first_cells import (
    CellKind,
    ColumnCells,
    FirstRecord,
    is_word_above_texts,
)
from data.tables.rows import repeats_names


def has_header(
    path: str, records: Sequence[Sequence[str]], columns: Collection[str]
) -> bool:
    """Returns whether the first of the first records names the columns.

    Examples:
        A number below `price` shows that `price` is a name. In the second
        table, the first record contains a text of many words and a number:

        >>> has_header("f.csv", [["text", "price"], ["It left.", "10"]], ())
        True
        >>> row = ["It left at noon again.", "7"]
        >>> has_header("f.csv", [row, ["It left.", "10"]], ())
        False

    Args:
        path: path of the file, for the error.
        records: the first records of the table.
        columns: names of columns that the user chose.

    Raises:
        ValueError: the records do not show whether it does.
    """
    first, *rest = records
    rows = [row for row in rest if not repeats_names(row, first)]
    cells_of_columns = [
        ColumnCells(cell, _filled_cells(rows, index))
        for index, cell in enumerate(first)
    ]
    is_header = _is_header(FirstRecord(cells_of_columns, columns))
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


def _is_header(record: FirstRecord) -> bool | None:
    """Returns whether a record names the columns, None if unknown."""
    for fits, is_header in _RECORD_RULES:
        if fits(record):
            return is_header
    return None


def _has_name_and_value(record: FirstRecord) -> bool:
    """`price` above 10 and 12 is a name, but 7 beside it is above 5 and 9."""
    are_values = {CellKind.VALUE, CellKind.REPEATED} & record.kinds
    return CellKind.NAME in record.kinds and bool(are_values)


def _has_name(record: FirstRecord) -> bool:
    """`price` above 10 and 12 is a name, and no other cell is of a row."""
    return CellKind.NAME in record.kinds


def _has_word_above_texts(record: FirstRecord) -> bool:
    """`remark` above texts of many words is hardly one of the texts."""
    return any(map(is_word_above_texts, record.columns))


def _has_value(record: FirstRecord) -> bool:
    """7 above 5 and 9 is of a row, whatever else recurs."""
    return CellKind.VALUE in record.kinds


def _has_repeated_cell_and_text(record: FirstRecord) -> bool:
    """`spam` above ham and spam may name its column.

    A text beside it does not.
    """
    return CellKind.REPEATED in record.kinds and record.has_text


# (rule, whether the first record names the columns if the rule fits, None if
# that is unknown). The first rule that fits decides.
_RECORD_RULES: Final[
    tuple[tuple[Callable[[FirstRecord], bool], bool | None], ...]
] = (
    (_has_name_and_value, None),
    (_has_name, True),
    (_has_word_above_texts, None),
    (_has_value, False),
    (_has_repeated_cell_and_text, False),
)
