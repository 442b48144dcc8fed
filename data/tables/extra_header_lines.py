"""Checks the lines around a header: a title above it, more names below it.

Both are neither the names of the columns nor a row. Spreadsheets, surveys and
data miners write them.
"""

import itertools
import re
from collections.abc import Collection, Sequence

from data.tables.rows import is_number
from data.tables.usual_names import is_usual_name

# A cell of the second line of names in exports of surveys.
_SECOND_NAME = re.compile(r'\{"ImportId":.*|Open-Ended Response', re.DOTALL)
# Types of columns, as tools write them below the names.
_COLUMN_TYPE_NAMES = """
bigint bool boolean category categorical char character continuous date
datetime datetime64[ns] decimal discrete double factor float float32 float64
int int32 int64 integer long nominal numeric object ordinal smallint str string
text time timestamp varchar
"""
_COLUMN_TYPES = frozenset(_COLUMN_TYPE_NAMES.split())
_SHORT_COLUMN_TYPES = frozenset("cdst")
# Roles of columns in Orange, which stand below their types.
_ORANGE_ROLE = re.compile(r"(class|meta|ignore|weight|[cim])?( ?\w+=\S+)*")


def check_title(
    path: str, rows: Sequence[Sequence[str]], columns: Collection[str]
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


def check_second_names(
    path: str, rows: Sequence[Sequence[str]], first_lines: Sequence[str] = ()
) -> None:
    """Checks that no line below the names describes the columns.

    Raises:
        ValueError: a line describes them.
    """
    if len(rows) < 2:
        return
    names, second, *rest = rows
    third = rest[0] if rest else []
    second_names = filter(_SECOND_NAME.fullmatch, [*second, *third])
    cell = next(second_names, None)
    has_gap = len(first_lines) == 3 and not first_lines[2].strip()
    if not cell and (
        _are_column_types(second, third, has_gap)
        or _is_lower_level(names, second)
    ):
        cell = next(filter(None, second))
    if cell:
        raise ValueError(
            f"{path}: the cell {cell[:80]!r} belongs to a second line of "
            "names. Remove all lines of names but the first"
        )


def _are_column_types(
    second: Sequence[str], third: Sequence[str], has_gap: bool
) -> bool:
    """Returns whether a second row tells the types of the columns.

    Orange writes types, such as `d` and `string`, and below them roles, such as
    `class`, or an empty line.

    Args:
        second: the cells below the names.
        third: the cells below `second`, [] if there are none.
        has_gap: whether the third line of the file is empty.
    """
    cells = [cell.strip().casefold() for cell in second]
    types = [cell for cell in cells if cell]
    are_types = (
        len(types) > 1 and {*types} <= _COLUMN_TYPES | _SHORT_COLUMN_TYPES
    )
    if are_types and not _COLUMN_TYPES.isdisjoint(types):
        return True
    if are_types and (has_gap or (third and not any(third))):
        return True
    # Single letters may be answers, but hardly beside an empty cell.
    roles = [cell.strip() for cell in third]
    are_letters = all(len(cell) == 1 for cell in roles)
    are_roles = all(map(_ORANGE_ROLE.fullmatch, roles)) and any(roles)
    has_type = not (_COLUMN_TYPES | _SHORT_COLUMN_TYPES).isdisjoint(types)
    return has_type and are_roles and not are_letters


def _is_lower_level(names: Sequence[str], second: Sequence[str]) -> bool:
    """Returns whether a second row is the lower level of the names.

    pandas writes columns of two levels: `,reviews,reviews` and `,text,label`.
    """
    filled = [name for name in names if name]
    has_index = not (names[0] or second[0]) and len(names) == len(second)
    has_repeated_name = len({*filled}) < len(filled)
    return has_index and has_repeated_name and all(second[1:])
