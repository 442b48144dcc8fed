"""Finds whether the first record of a table names the columns.

The records below tell: they are wider than a title, a name stands above a
column of numbers, and a cell that recurs below itself is no name.
"""

import enum
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from data.tables.column_names import HEADER, simplify

# Cells without a value.
_MISSING = frozenset(("-", "?", "n/a", "na", "nan", "none", "null"))
# A number as the name of a column is often a year.
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d{2,4})([T ].*)?")
# More words than a name of a column usually has.
_MAX_WORDS_OF_NAME = 4


class _Column(NamedTuple):
    """A column of the first records of a table.

    Attributes:
        first: cell of the first record.
        below: cells of the other records, without blank ones.
    """

    first: str
    below: list[str]


class _Sign(enum.Enum):
    """Whether a column shows that the first record is a header or a row.

    Attributes:
        NAME: it names the columns. The cell is such as `price` above numbers.
        ROW: it is a row. The cell is such as a number above numbers.
        RECURS: the cell recurs below, as cells of a row do. But a label may
            also name its column.
        NOTHING: the cell may be of either.
    """

    NAME = enum.auto()
    ROW = enum.auto()
    RECURS = enum.auto()
    NOTHING = enum.auto()


def check_title(
    path: str,
    records: Sequence[Sequence[str]],
    columns: Collection[str] = (),
) -> None:
    """Raises a ValueError if the first record seems to be a title.

    It is narrower than the table below it, or only its first cell is filled.
    The usual name of a column, or one of `columns`, is no title.

    Args:
        path: path of the file, for the error.
        records: the first records of the table.
        columns: names of columns that the user chose.
    """
    if len(records) < 2:
        return
    first, *rest = records
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
    """Returns whether a first record is a title with fewer cells than a row.

    The table, which ends the file, is at least two records of one width, and
    at least half of all records.
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
    """Returns whether a first record is a title with empty cells beside it.

    A spreadsheet writes such cells. The names of the columns are below it.
    """
    width = len(first)
    has_one_cell = width == len(rest[-1]) > 1 and not any(first[1:])
    # Other lines of the title may follow. One name of three is no header.
    is_above = any(len([*filter(None, row)]) > 1 for row in rest)
    may_have_names_below = all(rest[0]) or (width > 2 and is_above)
    return (
        has_one_cell
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


def is_usual_name(name: str, columns: Collection[str] = ()) -> bool:
    """Returns whether a cell is a usual name of a column, or of `columns`."""
    return name in columns or simplify(name) in HEADER


def has_header(
    path: str, records: Sequence[Sequence[str]], columns: Collection[str]
) -> bool:
    """Returns whether the first of the first records names the columns.

    A usual name, or one of `columns`, that does not recur below tells that it
    does. So does a first cell above numbers, or above values each of which
    recurs. A number above numbers, or a text that recurs, tells that it does
    not, but years and numbers in a row may be names. So does any cell that
    recurs, if the row contains a text or number. Without one, a label may name
    its column.

    Raises:
        ValueError: nothing tells.
    """
    first, *rest = records
    rows = [row for row in rest if not repeats_names(row, first)]
    table = [
        _Column(cell, _filled_cells(rows, index))
        for index, cell in enumerate(first)
    ]
    names_columns = _names_columns(table, columns)
    if names_columns is None:
        raise ValueError(
            f"{path}: nothing tells whether the first line names the columns. "
            "Set --has_header if it does, or else --nohas_header. It is "
            f"{', '.join(first)[:80]!r}"
        )
    return names_columns


def _filled_cells(rows: Sequence[Sequence[str]], index: int) -> list[str]:
    return [
        row[index] for row in rows if len(row) > index and row[index].strip()
    ]


def _names_columns(
    table: Sequence[_Column], columns: Collection[str]
) -> bool | None:
    """Weighs the signs of all columns, as `has_header` describes.

    Returns None if nothing tells whether the first record names the columns.
    """
    # A text stands in a row more often than in a name.
    has_text = any(
        _is_text(column.first) and not _are_numbers(column.below)
        for column in table
    )
    may_be_numbers = not has_text and _numbers_may_be_names(table)
    signs = {
        _sign_of(column, columns, has_text, may_be_numbers) for column in table
    }
    is_row = _Sign.ROW in signs or _Sign.RECURS in signs
    # `price` above numbers is a name, unless 7 beside it is above numbers too.
    if _Sign.NAME in signs:
        return None if is_row else True
    # `remark` above texts of many words is hardly one of the texts.
    if any(map(_is_word_above_texts, table)):
        return None
    # 7 above 5 and 9 is of a row, whatever else recurs.
    if _Sign.ROW in signs:
        return False
    # `spam` above ham and spam may name its column. A text beside it does not.
    return False if is_row and has_text else None


def _sign_of(
    column: _Column,
    names: Collection[str],
    has_text: bool,
    may_be_numbers: bool,
) -> _Sign:
    """Returns whether a column shows a header or a row in the first record.

    Args:
        column: the column.
        names: names of columns that the user chose.
        has_text: whether a cell of the first record is a text.
        may_be_numbers: whether the names of the columns may be numbers.
    """
    first, below = column
    sign = _sign_of_values(column)
    # The years 2013 and 2014 above other numbers may be names.
    may_be_name = may_be_numbers and is_number(first)
    if sign is _Sign.ROW and not may_be_name:
        return _Sign.ROW
    # Beside a text, `news` above ham, ham, spam and spam may be a label.
    if sign is _Sign.NAME and not has_text:
        return _Sign.NAME
    # `spam` above ham and spam may be a label, as they are.
    if _recurs(column):
        return _Sign.RECURS
    # `title` above any other cells is a name.
    if first not in below and is_usual_name(first, names):
        return _Sign.NAME
    return _Sign.NOTHING


def _sign_of_values(column: _Column) -> _Sign:
    """Compares the kind of a first cell with that of the cells below it."""
    first, below = column
    if _is_missing(first):
        return _Sign.NOTHING
    # `price` above 10 and 12 is a name, and 11 is of a row.
    if _are_numbers(below):
        return _Sign.ROW if is_number(first) else _Sign.NAME
    # `day` above 2024-05-01 is a name, and 2024-04-30 is of a row.
    if below and all(map(_is_date, below)):
        return _Sign.ROW if _is_date(first) else _Sign.NAME
    # `kind` above ham, spam, ham and spam is a name.
    counts = Counter(below)
    all_recur = len(below) > 3 and min(counts.values()) > 1
    return _Sign.NAME if all_recur and first not in counts else _Sign.NOTHING


def _numbers_may_be_names(table: Sequence[_Column]) -> bool:
    """Returns whether the numbers of a first row may be names of columns.

    They are years above other numbers, or numbers at one distance. An empty
    cell or a word that does not recur is beside them, or they are at least
    three.
    """
    # pandas writes the year 2013 as 2013.0 if a name is empty.
    numbers = [
        _Column(column.first.strip().removesuffix(".0"), column.below)
        for column in table
        if is_number(column.first)
    ]
    has_other_name = any(
        not column.first.strip()
        or not (is_number(column.first) or _recurs(column))
        for column in table
    )
    has_index = not table[0].first.strip()
    return (len(numbers) > 2 or has_other_name) and (
        all(map(_is_year_above_others, numbers))
        or _are_in_sequence([column.first for column in numbers], has_index)
    )


def _is_year_above_others(column: _Column) -> bool:
    is_year = _YEAR.fullmatch
    return bool(is_year(column.first)) and not all(map(is_year, column.below))


def _are_in_sequence(numbers: Sequence[str], has_index: bool) -> bool:
    """Returns whether numbers have one distance, as 0, 1 or 0, 5, 10 have.

    If the table `has_index`, the index of pandas, 0 alone may be a name.
    """
    if not all(re.fullmatch(r"\d{1,9}", number) for number in numbers):
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
    is_same = row[0].removeprefix("\ufeff") == names[0]
    return is_same and [*row[1:]] == [*names[1:]] != []


def _is_text(cell: str) -> bool:
    return len(cell.split()) > _MAX_WORDS_OF_NAME or '"' in cell


def _is_missing(cell: str) -> bool:
    return not cell.strip() or cell.strip().casefold() in _MISSING


def _recurs(column: _Column) -> bool:
    return column.first in column.below and not _is_missing(column.first)


def _is_word_above_texts(column: _Column) -> bool:
    """Returns whether one word stands above texts of many words each."""
    first, below = column
    num_words = sum(len(cell.split()) for cell in below)
    are_long = num_words >= _MAX_WORDS_OF_NAME * len(below)
    return len(below) > 3 and are_long and len(first.split()) == 1


def _is_date(cell: str) -> bool:
    return bool(_DATE.fullmatch(cell.strip()))


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(is_number, cells))


def is_number(cell: str) -> bool:
    """Returns whether a cell contains nothing but a number."""
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,%]*(e[-+]?\d+)?\s*", cell))
