"""Finds whether the first record of a table names the columns.

First, each column shows what its first cell is. The first rule that fits
decides:

    first cell               below it               it is
    7                        5, 9                   a value (dates, too)
    price                    10, 12                 a name (above dates, too)
    kind                     ham, ham, spam, spam   a name
    spam                     ham, spam              a value, or names its column
    title                    anything else          a name, because it is usual
    any other                                       unknown

7 may be a name in a record such as name, 2013, 2014, or 0, 1, 2 (see
`_numbers_may_be_names`). In a record that contains a text, price and kind are
unknown, because texts stand in rows more often than in names.

Then the columns decide together, again by the first rule that fits:

    cells of the first record                       the record
    a name, and a value or a cell that recurs       unknown
    a name                                          names the columns
    a word above texts of many words                unknown
    a value                                         is a row
    a cell that recurs, and a text                  is a row
    any other                                       unknown

If the answer is unknown, the user sets a flag.
"""

import enum
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from data.tables.column_names import HEADER_NAMES, simplify_name

# Cells without a value.
_MISSING = frozenset(("-", "?", "n/a", "na", "nan", "none", "null"))
# A number as the name of a column is often a year.
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d{2,4})([T ].*)?")
# More words than a name of a column usually has.
_MAX_WORDS_OF_NAME = 4


class _ColumnCells(NamedTuple):
    """A column of the first records of a table.

    Attributes:
        first: cell of the first record.
        below: cells of the other records, without blank ones.
    """

    first: str
    below: list[str]


class _CellKind(enum.Enum):
    """The kind of a column's first cell, judged by the cells below it.

    Attributes:
        NAME: a name, such as `price` above numbers.
        VALUE: a value of the first row, such as a number above numbers.
        RECURS: it stands below itself too, as values do. But a label may also
            name its column.
        NOTHING: it may be either.
    """

    NAME = enum.auto()
    VALUE = enum.auto()
    RECURS = enum.auto()
    NOTHING = enum.auto()


def is_usual_name(name: str, columns: Collection[str] = ()) -> bool:
    """Returns whether a cell is a usual name of a column, or of `columns`."""
    return name in columns or simplify_name(name) in HEADER_NAMES


def has_header(
    path: str, records: Sequence[Sequence[str]], columns: Collection[str]
) -> bool:
    """Returns whether the first of the first records names the columns.

    The text at the top of this module lists the rules.

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
    table = [
        _ColumnCells(cell, _filled_cells(rows, index))
        for index, cell in enumerate(first)
    ]
    is_header = _is_header(table, columns)
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


def _is_header(
    table: Sequence[_ColumnCells], columns: Collection[str]
) -> bool | None:
    """Returns whether the first record names the columns, None if unknown.

    The first rule that fits decides.
    """
    # A text stands in a row more often than in a name.
    has_text = any(
        _is_text(column.first) and not _are_numbers(column.below)
        for column in table
    )
    may_be_numbers = not has_text and _numbers_may_be_names(table)
    kinds = {
        _kind_of_first_cell(column, columns, has_text, may_be_numbers)
        for column in table
    }
    # `price` above 10 and 12 is a name, but 7 beside it is above 5 and 9.
    if _CellKind.NAME in kinds and kinds & {_CellKind.VALUE, _CellKind.RECURS}:
        return None
    # `price` above 10 and 12 is a name, and no cell is of a row.
    if _CellKind.NAME in kinds:
        return True
    # `remark` above texts of many words is hardly one of the texts.
    if any(map(_is_word_above_texts, table)):
        return None
    # 7 above 5 and 9 is of a row, whatever else recurs.
    if _CellKind.VALUE in kinds:
        return False
    # `spam` above ham and spam may name its column. A text beside it does not.
    if _CellKind.RECURS in kinds and has_text:
        return False
    return None


def _kind_of_first_cell(
    column: _ColumnCells,
    names: Collection[str],
    has_text: bool,
    may_be_numbers: bool,
) -> _CellKind:
    """Returns what the first cell of a column is.

    The first rule that fits decides.

    Args:
        column: the column.
        names: names of columns that the user chose.
        has_text: whether a cell of the first record is a text.
        may_be_numbers: whether the names of the columns may be numbers.
    """
    # The years 2013 and 2014 above other numbers may be names.
    may_be_name = may_be_numbers and is_number(column.first)
    # 7 above 5 and 9 is a value.
    if _is_value_above_values(column) and not may_be_name:
        return _CellKind.VALUE
    # `price` above 10 and 12 is a name, but a text beside it is of a row.
    if _is_word_above_values(column) and not has_text:
        return _CellKind.NAME
    # `kind` above ham, ham, spam and spam is a name. Beside a text, it may be a
    # rare label.
    if _is_above_labels(column) and not has_text:
        return _CellKind.NAME
    # `spam` above ham and spam may be a label, as they are.
    if _has_first_below(column):
        return _CellKind.RECURS
    # `title` above any other cells is a name.
    if column.first not in column.below and is_usual_name(column.first, names):
        return _CellKind.NAME
    return _CellKind.NOTHING


def _is_value_above_values(column: _ColumnCells) -> bool:
    """Returns whether a number is above numbers, or a date above dates."""
    if _are_numbers(column.below):
        return is_number(column.first)
    return _are_dates(column.below) and _is_date(column.first)


def _is_word_above_values(column: _ColumnCells) -> bool:
    """Returns whether a word is above numbers or dates."""
    are_values = _are_numbers(column.below) or _are_dates(column.below)
    is_word = not _is_missing(column.first)
    return are_values and is_word and not _is_value_above_values(column)


def _is_above_labels(column: _ColumnCells) -> bool:
    """Returns whether each word below recurs, but the first cell does not.

    For example, `kind` is above the labels ham, spam, ham and spam.
    """
    first, below = column
    if _is_missing(first) or _are_numbers(below) or _are_dates(below):
        return False
    counts = Counter(below)
    return len(below) > 3 and min(counts.values()) > 1 and first not in counts


def _numbers_may_be_names(table: Sequence[_ColumnCells]) -> bool:
    """Returns whether the numbers of a first row may be names of columns.

    The numbers must be years above other numbers, or have one distance. Beside
    them must be an empty cell or a word that does not recur, or there must be
    at least three numbers. For example, 2013 and 2014 may be names in the
    record name, 2013, 2014, and so may 0, 1 and 2. But 7 and 8 may not be names
    in the record 7, 8.
    """
    # pandas writes the year 2013 as 2013.0 if a name is empty.
    numbers = [
        _ColumnCells(column.first.strip().removesuffix(".0"), column.below)
        for column in table
        if is_number(column.first)
    ]
    has_other_name = any(
        not column.first.strip()
        or not (is_number(column.first) or _has_first_below(column))
        for column in table
    )
    has_index = not table[0].first.strip()
    return (len(numbers) > 2 or has_other_name) and (
        all(map(_is_year_above_others, numbers))
        or _are_in_sequence([column.first for column in numbers], has_index)
    )


def _is_year_above_others(column: _ColumnCells) -> bool:
    return _is_year(column.first) and not all(map(_is_year, column.below))


def _is_year(name: str) -> bool:
    return bool(_YEAR.fullmatch(name))


def _are_in_sequence(numbers: Sequence[str], has_index: bool) -> bool:
    """Returns whether numbers have one distance, as 0, 1 or 0, 5, 10 have.

    If the table `has_index`, the index of pandas, 0 alone may be a name.
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


def is_empty_row(row: Sequence[str]) -> bool:
    """Returns whether a row contains nothing but blanks."""
    return not any(map(str.strip, row))


def repeats_names(row: Sequence[str], names: Sequence[str]) -> bool:
    """Returns whether a row repeats the names of the columns.

    In files that were joined, UTF-8's mark may stand before the second names.
    """
    if len(names) < 2:
        return False
    is_same = row[0].removeprefix("\ufeff") == names[0]
    return is_same and [*row[1:]] == [*names[1:]]


def _is_text(cell: str) -> bool:
    return len(cell.split()) > _MAX_WORDS_OF_NAME or '"' in cell


def _is_missing(cell: str) -> bool:
    return not cell.strip() or cell.strip().casefold() in _MISSING


def _has_first_below(column: _ColumnCells) -> bool:
    return column.first in column.below and not _is_missing(column.first)


def _is_word_above_texts(column: _ColumnCells) -> bool:
    """Returns whether one word stands above texts of many words each."""
    first, below = column
    num_words = sum(len(cell.split()) for cell in below)
    are_long = num_words >= _MAX_WORDS_OF_NAME * len(below)
    return len(below) > 3 and are_long and len(first.split()) == 1


def _is_date(cell: str) -> bool:
    return bool(_DATE.fullmatch(cell.strip()))


def _are_dates(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(_is_date, cells))


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(is_number, cells))


def is_number(cell: str) -> bool:
    """Returns whether a cell contains nothing but a number."""
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,%]*(e[-+]?\d+)?\s*", cell))
