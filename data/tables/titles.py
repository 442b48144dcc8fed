"""Finds a title above a table, which is neither names of columns nor a row."""

import itertools
from collections.abc import Collection, Sequence

from data.tables.first_cells import is_number, is_usual_name


def check_title(
    path: str,
    rows: Sequence[Sequence[str]],
    columns: Collection[str] = (),
) -> None:
    """Checks that the first row is no title.

    A title has fewer cells than the table below it, or only its first cell is
    filled. The usual name of a column, or one of `columns`, is no title.

    Args:
        path: path of the file, for the error.
        rows: the first rows of the table.
        columns: names of columns that the user chose.

    Raises:
        ValueError: the row seems to be a title.
    """
    if len(rows) < 2:
        return
    first, *rest = rows
    is_narrow = _is_narrow_title(first, rest, columns)
    if is_narrow or _is_padded_title(first, rest, columns):
        cell = next(filter(None, first), "")
        width = len(rest[-1])
        if 1 < len(first) < width:
            raise ValueError(
                f"{path}: the first line, which begins with {cell[:80]!r}, "
                f"has {len(first)} cells above a table of {width} columns. "
                "Name all columns, or remove the line if it is a title"
            )
        flag = (
            "--delimiter=tab if there is one column"
            if is_narrow
            else "--nohas_header if it is a row"
        )
        raise ValueError(
            f"{path}: the first line, {cell[:80]!r}, seems to be a title "
            f"above a table of {len(rest[-1])} columns. Remove what is above "
            f"the names of the columns, or set {flag}"
        )


def _is_narrow_title(
    first: Sequence[str],
    rest: Sequence[Sequence[str]],
    columns: Collection[str],
) -> bool:
    """Returns whether a first row is a title with fewer cells than a row.

    The table, which ends the file, is at least two rows of one width, and
    at least half of all rows.
    """
    width = len(rest[-1])
    table = [
        *itertools.takewhile(lambda row: len(row) == width, reversed(rest))
    ]
    is_table = len(table) > 1 and 2 * len(table) >= len(rest)
    is_column = len(first) == 1 and is_usual_name(first[0], columns)
    return len(first) < width and is_table and not is_column


def _is_padded_title(
    first: Sequence[str],
    rest: Sequence[Sequence[str]],
    columns: Collection[str],
) -> bool:
    """Returns whether a first row is a title with empty cells beside it.

    A spreadsheet writes such cells. The names of the columns are below it.
    """
    width = len(first)
    has_one_cell = width > 1 and not any(first[1:])
    is_as_wide = width == len(rest[-1])
    # Other lines of the title may follow. One name of three is no header.
    is_above = any(len([*filter(None, row)]) > 1 for row in rest)
    may_have_names_below = all(rest[0]) or (width > 2 and is_above)
    return (
        has_one_cell
        and is_as_wide
        and may_have_names_below
        and not is_usual_name(first[0], columns)
        and not _is_like_rows(first, rest)
    )


def _is_like_rows(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Returns whether a first row with one filled cell is like other rows.

    Lines of a title may be like each other, in a table of more than two
    columns. Rows of numbers are like each other in any table.
    """
    is_filled_like_one = len(first) == 2 and any(
        row[0] and not any(row[1:]) for row in rest
    )
    numbers = [first[0], *(row[0] for row in rest)]
    return is_filled_like_one or all(map(is_number, numbers))
