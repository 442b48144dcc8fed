"""Guesses whether the first row of a table names the columns.

First, first_cell_roles.py guesses what the first cell of each column is. Then
all columns decide together: `_HEADER_RULES` lists the rules. If no rule fits,
the user sets a flag. The docstrings of rules write columns as those in
first_cell_roles.py.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from data.tables.headers import extra_header_lines
from data.tables.headers.first_cell_roles import (
    CellRole,
    ColumnCells,
    FirstRow,
    is_word_above_texts,
)


def decide_header(
    path: str,
    rows: Sequence[Sequence[str]],
    has_header: bool | None,
    *,
    chosen_names: Collection[str],
    first_lines: Sequence[str] = (),
) -> bool:
    """Returns whether the first row names the columns of a table.

    The user decides, or else the cells do, as in `guess_header`.

    Args:
        path: path of the file, for the error.
        rows: the first rows of the table.
        has_header: what the user says, None if the rows must show it.
        chosen_names: names of columns that the user chose.
        first_lines: the first three lines of the file, if it is a text.

    Raises:
        ValueError: a title is above the names, or other names are below them,
            or the rows do not show whether they have a header.
    """
    if has_header is False:
        return False
    extra_header_lines.check_title(path, rows, chosen_names)
    extra_header_lines.check_second_names(path, rows, first_lines)
    if has_header is None and rows:
        return guess_header(path, rows, chosen_names)
    return bool(has_header)


def guess_header(
    path: str, rows: Sequence[Sequence[str]], chosen_names: Collection[str]
) -> bool:
    """Returns whether the first row names the columns, as its cells show.

    Examples:
        A number below `price` shows that `price` is a name. In the second
        table, the first row contains a text of many words and a number:

        >>> rows = [["text", "price"], ["It left.", "10"]]
        >>> guess_header("f.csv", rows, ())
        True
        >>> rows = [["It left at noon again.", "7"], ["It left.", "10"]]
        >>> guess_header("f.csv", rows, ())
        False

    Args:
        path: path of the file, for the error.
        rows: the first rows of the table.
        chosen_names: names of columns that the user chose.

    Raises:
        ValueError: the rows do not show whether it does.
    """
    first, *rest = rows
    other_rows = [row for row in rest if not is_repeated_header(row, first)]
    cells_of_columns = [
        ColumnCells(cell, _filled_cells(other_rows, index))
        for index, cell in enumerate(first)
    ]
    first_row = FirstRow(cells_of_columns, chosen_names)
    fitting_rules = (
        is_header for fits, is_header in _HEADER_RULES if fits(first_row)
    )
    is_header = next(fitting_rules, None)
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


def is_repeated_header(row: Sequence[str], names: Sequence[str]) -> bool:
    """Returns whether a row repeats the names of the columns.

    In files that were joined, UTF-8's mark may stand before the second names.
    """
    if len(names) < 2:
        return False
    is_same = row[0].removeprefix("\ufeff") == names[0]
    return is_same and [*row[1:]] == [*names[1:]]


def _has_name_and_value(row: FirstRow) -> bool:
    """Returns whether the row has both a name and a value.

    The answer is then unknown. `price, 10, 12` is a column with a name,
    `7, 5, 9` one with a value.
    """
    are_values = {CellRole.VALUE, CellRole.REPEATED} & row.cell_roles
    return CellRole.NAME in row.cell_roles and bool(are_values)


def _has_name(row: FirstRow) -> bool:
    """Returns whether the row has a name. It is then a header.

    `price, 10, 12` is a column with a name. `folder, ham, spam` may be one.
    """
    return CellRole.NAME in row.cell_roles


def _has_word_above_texts(row: FirstRow) -> bool:
    """Returns whether a cell is a word above texts.

    The answer is then unknown. `remark` above four texts of many words is
    hardly a text itself.
    """
    return any(map(is_word_above_texts, row.columns))


def _has_value(row: FirstRow) -> bool:
    """Returns whether the row has a value. It is then no header.

    `7, 5, 9` is a column with a value. `boat, car, car` may have a name.
    """
    return CellRole.VALUE in row.cell_roles


def _has_repeated_cell_and_text(row: FirstRow) -> bool:
    """Returns whether a cell recurs beside a text. The row is then no header.

    In `spam, ham, spam`, the first cell recurs. Without a text beside it,
    `spam` may name its column.
    """
    return CellRole.REPEATED in row.cell_roles and row.has_text


# (rule, whether the first row names the columns if the rule fits, None if that
# is unknown). The first rule that fits decides, so that `_has_name` is
# asked of rows without values, and `_has_value` of rows without names.
_HEADER_RULES: Final[
    tuple[tuple[Callable[[FirstRow], bool], bool | None], ...]
] = (
    (_has_name_and_value, None),
    (_has_name, True),
    (_has_word_above_texts, None),
    (_has_value, False),
    (_has_repeated_cell_and_text, False),
)
