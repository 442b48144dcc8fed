"""Guesses whether the first row of a table names the columns.

First, `_ROLE_RULES` guess what the first cell of each column is, a name or a
value, by the cells below it and beside it. Then all columns decide together, by
`_HEADER_RULES`. If no rule fits, the user sets a flag.

The docstrings of rules write a column in one line, from above: `price, 10, 12`
is `price` above 10 and 12.
"""

import dataclasses
import enum
import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from data.tables import header_line_checks
from data.tables.column_names import is_usual_name
from data.tables.rows import (
    are_dates,
    are_numbers,
    is_date,
    is_missing,
    is_number,
    is_repeated_header,
    is_year,
)

# More words than a name of a column usually has.
_MAX_WORDS_OF_NAME = 4


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
        path: the file, for the error.
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
    header_line_checks.check_title(path, rows, chosen_names)
    header_line_checks.check_second_names(path, rows, first_lines)
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
        path: the file, for the error.
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
    is_header = _find_header_verdict(first_row)
    if is_header is None:
        raise ValueError(
            f"{path}: nothing tells whether the first line names the columns. "
            "Set --has_header if it does, or else --nohas_header. It is "
            f"{', '.join(first)[:80]!r}"
        )
    return is_header


def _find_header_verdict(row: "FirstRow") -> bool | None:
    """Returns whether a row names the columns, None if that is unknown."""
    for rule in _HEADER_RULES:
        if rule.fits(row):
            return rule.is_header
    return None


def _filled_cells(rows: Sequence[Sequence[str]], index: int) -> list[str]:
    return [
        row[index] for row in rows if len(row) > index and row[index].strip()
    ]


class ColumnCells(NamedTuple):
    """A column of the first rows of a table.

    Attributes:
        first: cell of the first row.
        below: cells of the other rows, without blank ones.
    """

    first: str
    below: list[str]


class CellRole(enum.Enum):
    """The role of a column's first cell: a name, a value, or unknown.

    Attributes:
        NAME: a name, such as `price` above numbers.
        VALUE: a value of the first row, such as a number above numbers.
        REPEATED: the cell stands below itself too, as values do. But a label
            may also name its column.
        UNKNOWN: it may be a name or a value.
    """

    NAME = enum.auto()
    VALUE = enum.auto()
    REPEATED = enum.auto()
    UNKNOWN = enum.auto()


@dataclasses.dataclass(frozen=True)
class FirstRow:
    """The first row of a table, and the cells below it.

    Attributes:
        columns: the first cell of each column, with the cells below it.
        chosen_names: names of columns that the user chose.
    """

    columns: Sequence[ColumnCells]
    chosen_names: Collection[str]

    @functools.cached_property
    def has_text(self) -> bool:
        """Whether a cell is a text, which is rarely the name of a column."""
        return any(
            _is_text(column.first) and not are_numbers(column.below)
            for column in self.columns
        )

    @functools.cached_property
    def numbers_may_be_names(self) -> bool:
        """Whether the numbers of the row may be names of columns.

        The numbers must be years above other numbers, or numbers that rise in
        equal steps, such as 0, 5, 10. There must be at least three numbers, or
        beside them an empty cell or a word that does not recur.

        Examples of first rows: `name, 2013, 2014` -> True, `0, 1, 2` -> True,
        `7, 8` -> False.
        """
        # pandas writes the year 2013 as 2013.0 if a name is empty.
        numbers = [
            ColumnCells(column.first.strip().removesuffix(".0"), column.below)
            for column in self.columns
            if is_number(column.first)
        ]
        has_other_name = any(
            not column.first.strip()
            or not (is_number(column.first) or _has_first_below(column))
            for column in self.columns
        )
        if self.has_text or not (len(numbers) > 2 or has_other_name):
            return False
        has_index = not self.columns[0].first.strip()
        return all(map(_is_year_above_others, numbers)) or _are_in_sequence(
            [column.first for column in numbers], has_index
        )

    @functools.cached_property
    def cell_roles(self) -> set[CellRole]:
        """The roles of the row's cells."""
        return {guess_cell_role(column, self) for column in self.columns}


def _has_name_and_value(row: FirstRow) -> bool:
    """Returns whether the row has both a name and a value.

    The answer is then unknown. `price, 10, 12` is a column with a name,
    `7, 5, 9` one with a value.
    """
    has_value = not row.cell_roles.isdisjoint(
        {CellRole.VALUE, CellRole.REPEATED}
    )
    return CellRole.NAME in row.cell_roles and has_value


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


class _HeaderRule(NamedTuple):
    """A rule that decides whether the first row names the columns.

    Attributes:
        fits: function that returns whether the rule fits a row.
        is_header: what the rule decides if it fits. None if that is unknown.
    """

    fits: Callable[[FirstRow], bool]
    is_header: bool | None


# The first rule that fits decides, so that `_has_name` is asked of rows without
# values, and `_has_value` of rows without names.
_HEADER_RULES: Final[tuple[_HeaderRule, ...]] = (
    _HeaderRule(_has_name_and_value, is_header=None),
    _HeaderRule(_has_name, is_header=True),
    _HeaderRule(_has_word_above_texts, is_header=None),
    _HeaderRule(_has_value, is_header=False),
    _HeaderRule(_has_repeated_cell_and_text, is_header=False),
)


def guess_cell_role(column: ColumnCells, row: FirstRow) -> CellRole:
    """Guesses the role of a column's first cell: a name, or a value."""
    for rule in _ROLE_RULES:
        if rule.fits(column, row):
            return rule.role
    return CellRole.UNKNOWN


def _is_value(column: ColumnCells, row: FirstRow) -> bool:
    """Returns whether a number stands above numbers, or a date above dates.

    The rule does not fit numbers that may be names, such as the year in
    `2013, 5, 9` beside another column's name.
    """
    may_be_name = row.numbers_may_be_names and is_number(column.first)
    return _is_value_above_values(column) and not may_be_name


def _is_name_above_values(column: ColumnCells, row: FirstRow) -> bool:
    """Returns whether a word stands above numbers or dates: `price, 10, 12`.

    If a text is beside it, the rule does not fit, because a row with a text is
    rarely a header.
    """
    are_values = are_numbers(column.below) or are_dates(column.below)
    is_word = not (is_missing(column.first) or _is_value_above_values(column))
    return are_values and is_word and not row.has_text


def _is_name_above_labels(column: ColumnCells, row: FirstRow) -> bool:
    """Returns whether a word is above labels that recur: `folder, ham, ham`.

    If a text is beside it, the rule does not fit, because `folder` may be a
    rare label.
    """
    first, below = column
    if is_missing(first) or are_numbers(below) or are_dates(below):
        return False
    counts = Counter(below)
    is_above_labels = len(below) > 3 and min(counts.values()) > 1
    return is_above_labels and first not in counts and not row.has_text


def _is_repeated(column: ColumnCells, _: FirstRow) -> bool:
    """Returns whether the first cell recurs below, as in `spam, ham, spam`."""
    return _has_first_below(column)


def _is_usual_name_above_others(column: ColumnCells, row: FirstRow) -> bool:
    """Returns whether the cell is a usual name: `title, A boat, A car`."""
    is_usual = is_usual_name(column.first, row.chosen_names)
    return is_usual and column.first not in column.below


class _RoleRule(NamedTuple):
    """A rule that decides what the first cell of a column is.

    Attributes:
        fits: function that returns whether the rule fits a column of a row.
        role: what the first cell of the column is if the rule fits.
    """

    fits: Callable[[ColumnCells, FirstRow], bool]
    role: CellRole


# The first rule that fits decides.
_ROLE_RULES: Final[tuple[_RoleRule, ...]] = (
    _RoleRule(_is_value, CellRole.VALUE),
    _RoleRule(_is_name_above_values, CellRole.NAME),
    _RoleRule(_is_name_above_labels, CellRole.NAME),
    _RoleRule(_is_repeated, CellRole.REPEATED),
    _RoleRule(_is_usual_name_above_others, CellRole.NAME),
)


def is_word_above_texts(column: ColumnCells) -> bool:
    """Returns whether one word stands above texts of many words each."""
    first, below = column
    num_words = sum(len(cell.split()) for cell in below)
    are_long = num_words >= _MAX_WORDS_OF_NAME * len(below)
    return len(below) > 3 and are_long and len(first.split()) == 1


def _is_value_above_values(column: ColumnCells) -> bool:
    """Returns whether a number is above numbers, or a date above dates."""
    if are_numbers(column.below):
        return is_number(column.first)
    return are_dates(column.below) and is_date(column.first)


def _has_first_below(column: ColumnCells) -> bool:
    return column.first in column.below and not is_missing(column.first)


def _is_year_above_others(column: ColumnCells) -> bool:
    """Returns whether a year, which often names a column, is above others."""
    return is_year(column.first) and not all(map(is_year, column.below))


def _are_in_sequence(numbers: Sequence[str], has_index: bool) -> bool:
    """Returns whether numbers have equal distances, such as 0, 5, 10.

    The distance of two numbers must be 1. A single 0 is a sequence in a table
    that `has_index`, the index of pandas.
    """
    if not all(re.fullmatch(r"\d{1,9}", digits) for digits in numbers):
        return False
    steps = {
        int(after) - int(before)
        for before, after in itertools.pairwise(numbers)
    }
    if len(numbers) < 3:
        return steps == {1} or (has_index and [*numbers] == ["0"])
    return len(steps) == 1 and 0 not in steps


def _is_text(cell: str) -> bool:
    return len(cell.split()) > _MAX_WORDS_OF_NAME or '"' in cell
