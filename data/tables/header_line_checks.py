"""Refuses lines around the names of columns that are no names and no rows.

Spreadsheets, surveys and data miners write a title above the names, or more
names below them: `_TITLE_RULES` and `_SECOND_NAMES_RULES` list how these look.
In the docstrings of rules, a slash begins the next line of a table:
`id,text / 1,a`.
"""

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple, TypeAlias

from data.tables.column_names import is_usual_name
from data.tables.rows import is_number

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
_ALL_COLUMN_TYPES = _COLUMN_TYPES | _SHORT_COLUMN_TYPES
# Roles of columns in Orange, which stand below their types.
_ORANGE_ROLE = re.compile(r"(class|meta|ignore|weight|[cim])?( ?\w+=\S+)*")


class _TopRows(NamedTuple):
    """The first rows of a table, which may begin with a title.

    Attributes:
        first: the row that may be a title.
        rest: the rows below it, at least one.
        columns: names of columns that the user chose.
    """

    first: Sequence[str]
    rest: Sequence[Sequence[str]]
    columns: Collection[str]


def check_title(
    path: str, rows: Sequence[Sequence[str]], columns: Collection[str]
) -> None:
    """Checks that the first row is no title.

    A title has fewer cells than the table below it, or only its first cell is
    filled. The usual name of a column, or one of `columns`, is no title.

    Args:
        path: the file, for the error.
        rows: the first rows of the table.
        columns: names of columns that the user chose.

    Raises:
        ValueError: the row seems to be a title.
    """
    if len(rows) < 2:
        return
    first, *rest = rows
    top = _TopRows(first, rest, columns)
    for rule in _TITLE_RULES:
        if rule.is_title(top):
            raise _title_error(path, top, rule.advice)


def _title_error(path: str, top: _TopRows, advice: str) -> ValueError:
    """Returns the error about a title. `advice` is the flag for other rows."""
    first, rest, _ = top
    cell = next(filter(None, first), "")
    width = len(rest[-1])
    if 1 < len(first) < width:
        return ValueError(
            f"{path}: the first line, which begins with {cell[:80]!r}, "
            f"has {len(first)} cells above a table of {width} columns. "
            "Name all columns, or remove the line if it is a title"
        )
    return ValueError(
        f"{path}: the first line, {cell[:80]!r}, seems to be a title "
        f"above a table of {width} columns. Remove what is above "
        f"the names of the columns, or set {advice}"
    )


def _is_narrow_title(top: _TopRows) -> bool:
    """Returns whether a row has fewer cells than the table: `May / id,text`.

    The table, which ends the file, is at least two rows of one width, and
    at least half of all rows.
    """
    first, rest, columns = top
    width = len(rest[-1])
    table = [
        *itertools.takewhile(lambda row: len(row) == width, reversed(rest))
    ]
    is_table = len(table) > 1 and 2 * len(table) >= len(rest)
    is_column = len(first) == 1 and is_usual_name(first[0], columns)
    return len(first) < width and is_table and not is_column


def _is_padded_title(top: _TopRows) -> bool:
    """Returns whether a row has one cell, and empty ones: `May, / id,text`.

    A spreadsheet writes such cells. The names of the columns are below it.
    """
    first, rest, columns = top
    width = len(first)
    if width < 2 or any(first[1:]) or width != len(rest[-1]):
        return False
    if is_usual_name(first[0], columns) or _is_like_rows(first, rest):
        return False
    return all(rest[0]) or _may_have_names_below(width, rest)


def _may_have_names_below(width: int, rest: Sequence[Sequence[str]]) -> bool:
    """Returns whether a header may follow other lines of a title.

    In `Report,, / of May,, / id,text,label`, the third line may be it. In a
    table of two columns, the lines of a title look like rows without a label.
    """
    has_row_of_cells = any(len([*filter(None, row)]) > 1 for row in rest)
    return width > 2 and has_row_of_cells


def _is_like_rows(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Returns whether a first row with one filled cell is like other rows.

    In a table of two columns, `I like it, / so so,` are like each other. In a
    wider table, they may be two lines of a title. Rows of numbers, such as
    `1, / 2,!`, are like each other in any table.
    """
    is_filled_like_one = len(first) == 2 and any(
        row[0] and not any(row[1:]) for row in rest
    )
    numbers = [first[0], *(row[0] for row in rest)]
    return is_filled_like_one or all(map(is_number, numbers))


class _TitleRule(NamedTuple):
    """A rule that recognizes a title.

    Attributes:
        is_title: function that returns whether the first row is a title.
        advice: the flag to set if the first row is no title.
    """

    is_title: Callable[[_TopRows], bool]
    advice: str


# The first rule that fits decides.
_TITLE_RULES: Final[tuple[_TitleRule, ...]] = (
    _TitleRule(_is_narrow_title, "--delimiter=tab if there is one column"),
    _TitleRule(_is_padded_title, "--nohas_header if it is a row"),
)


class _LinesBelow(NamedTuple):
    """The names of the columns, and the lines that may describe them.

    Attributes:
        names: the names of the columns.
        second: the cells below the names.
        third: the cells below `second`, [] if there are none.
        has_gap: whether the third line of the file is empty.
    """

    names: Sequence[str]
    second: Sequence[str]
    third: Sequence[str]
    has_gap: bool

    @property
    def types(self) -> list[str]:
        """The filled cells of the second line, which may be types."""
        cells = [cell.strip().casefold() for cell in self.second]
        return [cell for cell in cells if cell]

    @property
    def are_types(self) -> bool:
        """Whether each filled cell of the second line is a type."""
        return len(self.types) > 1 and _ALL_COLUMN_TYPES.issuperset(self.types)


def check_second_names(
    path: str, rows: Sequence[Sequence[str]], first_lines: Sequence[str] = ()
) -> None:
    """Checks that no line below the names describes the columns.

    Args:
        path: the file, for the error.
        rows: the first rows of the table.
        first_lines: the first three lines of the file, if it is a text.

    Raises:
        ValueError: a line describes them.
    """
    if len(rows) < 2:
        return
    names, second, *rest = rows
    third = rest[0] if rest else []
    has_gap = len(first_lines) == 3 and not first_lines[2].strip()
    lines = _LinesBelow(names, second, third, has_gap)
    second_names = filter(_SECOND_NAME.fullmatch, [*second, *third])
    cell = next(second_names, None)
    if not cell and any(fits(lines) for fits in _SECOND_NAMES_RULES):
        cell = next(filter(None, second))
    if cell:
        raise ValueError(
            f"{path}: the cell {cell[:80]!r} belongs to a second line of "
            "names. Remove all lines of names but the first"
        )


def _has_types(lines: _LinesBelow) -> bool:
    """Returns whether types of columns follow: `text,score / varchar,int`.

    One of them must be longer than a letter, because single letters may be
    answers.
    """
    return lines.are_types and not _COLUMN_TYPES.isdisjoint(lines.types)


def _has_types_above_gap(lines: _LinesBelow) -> bool:
    """Returns whether Orange's types stand above empty cells: `d,s / ,`.

    The third line may also be empty.
    """
    is_empty = bool(lines.third) and not any(lines.third)
    return lines.are_types and (lines.has_gap or is_empty)


def _has_types_above_roles(lines: _LinesBelow) -> bool:
    """Returns whether types stand above Orange's roles: `d,yes no / class,`.

    Roles that are all single letters may be answers, unless an empty cell is
    beside them.
    """
    roles = [cell.strip() for cell in lines.third]
    are_roles = all(map(_ORANGE_ROLE.fullmatch, roles)) and any(roles)
    are_letters = all(len(cell) == 1 for cell in roles)
    has_type = not _ALL_COLUMN_TYPES.isdisjoint(lines.types)
    return has_type and are_roles and not are_letters


def _is_lower_level(lines: _LinesBelow) -> bool:
    """Returns whether pandas wrote two levels of names: `,a,a / ,text,b`."""
    names, second = lines.names, lines.second
    filled = [name for name in names if name]
    has_index = not (names[0] or second[0]) and len(names) == len(second)
    has_repeated_name = len({*filled}) < len(filled)
    return has_index and has_repeated_name and all(second[1:])


_SecondNamesRule: TypeAlias = Callable[[_LinesBelow], bool]
# A second line describes the columns if one of these rules fits.
_SECOND_NAMES_RULES: Final[tuple[_SecondNamesRule, ...]] = (
    _has_types,
    _has_types_above_gap,
    _has_types_above_roles,
    _is_lower_level,
)
