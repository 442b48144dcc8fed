"""Finds whether the first record of a table names the columns.

The records below tell: they are wider than a title, a name stands above a
column of numbers, and a cell that recurs below itself is no name.
"""

import enum
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence

from data.tables.column_names import HEADER, simplify

# Cells without a value.
_MISSING = frozenset(("-", "?", "n/a", "na", "nan", "none", "null"))
# A number as the name of a column is often a year.
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d{2,4})([T ].*)?")
# More words than a name of a column usually has.
_MOST_WORDS = 4
# (a cell of the first record, the filled cells below it).
_Cell = tuple[str, list[str]]


class _Sign(enum.Enum):
    """Whether a cell makes the first record a header or a row.

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
    """
    if len(records) < 2:
        return
    first, *rest = records
    is_narrow = _is_narrow_title(first, rest, columns)
    if is_narrow or _is_padded_title(first, rest, columns):
        shown = next(filter(None, first), "")
        width = len(rest[-1])
        if 1 < len(first) < width:
            raise ValueError(
                f"{path}: the first line, which begins with {shown[:80]!r}, "
                f"has {len(first)} cells above a table of {width} columns. "
                "Name all columns, or remove the line if it is a title"
            )
        flag = (
            "--delimiter=tab if there is one column"
            if is_narrow
            else "--nohas_header if it is a row"
        )
        raise ValueError(
            f"{path}: the first line, {shown[:80]!r}, seems to be a title "
            f"above a table of {len(rest[-1])} columns. Remove what is above "
            f"the names of the columns, or set {flag}"
        )


def _is_narrow_title(
    first: Sequence[str],
    rest: Sequence[Sequence[str]],
    columns: Collection[str],
) -> bool:
    # A title is narrower than the table, which ends the file: at least two
    # records of one width, and at least half of all of them.
    width = len(rest[-1])
    table = [
        *itertools.takewhile(lambda row: len(row) == width, reversed(rest))
    ]
    is_table = len(table) > 1 and 2 * len(table) >= len(rest)
    is_column = len(first) == 1 and is_usual(first[0], columns)
    return len(first) < width and is_table and not is_column


def _is_padded_title(
    first: Sequence[str],
    rest: Sequence[Sequence[str]],
    columns: Collection[str],
) -> bool:
    # A spreadsheet writes empty cells beside a title. The names of the columns
    # are below it.
    width = len(first)
    has_one_cell = width == len(rest[-1]) > 1 and not any(first[1:])
    # Other lines of the title may follow. One name of three is no header.
    is_above = any(len([*filter(None, row)]) > 1 for row in rest)
    has_usual_name = all(rest[0]) or (width > 2 and is_above)
    return (
        has_one_cell
        and has_usual_name
        and not is_usual(first[0], columns)
        and not _is_like_rows(first, rest)
    )


def _is_like_rows(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    # Returns whether a first row whose only filled cell is the first one is
    # like the rows below it. Lines of a title may be, in a wider table.
    is_filled_like_one = len(first) == 2 and any(
        row[0] and not any(row[1:]) for row in rest
    )
    numbers = [first[0], *(row[0] for row in rest)]
    return is_filled_like_one or all(map(is_number, numbers))


def is_usual(name: str, columns: Collection[str] = ()) -> bool:
    """Returns whether a cell is a usual name of a column, or of `columns`."""
    return name in columns or simplify(name) in HEADER


def find_header(
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
    rest = [row for row in rest if not repeats(row, first)]
    cells = [(name, _column(rest, i)) for i, name in enumerate(first)]
    # A text stands in a row more often than in a name.
    has_text = any(
        _is_text(x) and not _are_numbers(below) for x, below in cells
    )
    signs = _read_signs(cells, columns, has_text)
    names_columns = _decide(cells, signs, has_text)
    if names_columns is None:
        raise ValueError(
            f"{path}: nothing tells whether the first line names the columns. "
            "Set --has_header if it does, or else --nohas_header. It is "
            f"{', '.join(first)[:80]!r}"
        )
    return names_columns


def _read_signs(
    cells: Sequence[_Cell], columns: Collection[str], has_text: bool
) -> set[_Sign]:
    """Returns what the cells of the first record tell of it."""
    numbers_may_name = not has_text and _may_be_names(cells)
    signs = set()
    for name, below in cells:
        sign = _compare(name, below)
        # The years 2013 and 2014 above other numbers may be names.
        if sign is _Sign.ROW and numbers_may_name and is_number(name):
            sign = _Sign.NOTHING
        # Beside a text, `news` above ham, ham, spam and spam may be a label.
        if sign is _Sign.NAME and has_text:
            sign = _Sign.NOTHING
        # `spam` above ham and spam may be a label, as they are.
        if sign is _Sign.NOTHING and _recurs(name, below):
            sign = _Sign.RECURS
        # `title` above any other cells is a name.
        has_usual_name = name not in below and is_usual(name, columns)
        if sign is _Sign.NOTHING and has_usual_name:
            sign = _Sign.NAME
        signs.add(sign)
    return signs


def _compare(name: str, below: Sequence[str]) -> _Sign:
    """Returns what a first cell tells beside the kind of the cells below it."""
    if _is_missing(name):
        return _Sign.NOTHING
    # `price` above 10 and 12 is a name, and 11 is of a row.
    if _are_numbers(below):
        return _Sign.ROW if is_number(name) else _Sign.NAME
    # `day` above 2024-05-01 is a name, and 2024-04-30 is of a row.
    if below and all(map(_is_date, below)):
        return _Sign.ROW if _is_date(name) else _Sign.NAME
    # `kind` above ham, spam, ham and spam is a name.
    counts = Counter(below)
    recur = len(below) > 3 and min(counts.values()) > 1
    return _Sign.NAME if recur and name not in counts else _Sign.NOTHING


def _decide(
    cells: Sequence[_Cell], signs: Collection[_Sign], has_text: bool
) -> bool | None:
    # Returns whether the first record names the columns, None if nothing tells.
    is_row = _Sign.ROW in signs or _Sign.RECURS in signs
    # `price` above numbers is a name, unless 7 beside it is above numbers too.
    if _Sign.NAME in signs:
        return None if is_row else True
    # `remark` above texts of many words is hardly one of the texts.
    if any(itertools.starmap(_is_above_texts, cells)):
        return None
    # 7 above 5 and 9 is of a row, whatever else recurs.
    if _Sign.ROW in signs:
        return False
    # `spam` above ham and spam may name its column. A text beside it does not.
    return False if is_row and has_text else None


def _column(rows: Sequence[Sequence[str]], i: int) -> list[str]:
    return [row[i] for row in rows if len(row) > i and row[i].strip()]


def _may_be_names(cells: Sequence[_Cell]) -> bool:
    # Returns whether the numbers of a first row may be names of columns: years
    # that stand above other numbers, or numbers at one distance. An empty cell
    # or a word that does not recur is beside them, or three of them are enough.
    # pandas writes the year 2013 as 2013.0 if a name is empty.
    numbers = [
        (x.strip().removesuffix(".0"), below)
        for x, below in cells
        if is_number(x)
    ]
    has_name = len(numbers) > 2 or any(
        not cell.strip() or not (is_number(cell) or _recurs(cell, below))
        for cell, below in cells
    )
    are_years = all(
        _YEAR.fullmatch(x) and not all(map(_YEAR.fullmatch, below))
        for x, below in numbers
    )
    is_run = _is_run([x for x, _ in numbers], is_index=not cells[0][0].strip())
    return has_name and (are_years or is_run)


def _is_run(numbers: Sequence[str], is_index: bool) -> bool:
    # 0, 1 or 0, 5, 10. Beside the index of pandas, 0 alone may be a name.
    if not all(re.fullmatch(r"\d{1,9}", number) for number in numbers):
        return False
    steps = {
        int(after) - int(before)
        for before, after in itertools.pairwise(numbers)
    }
    if len(numbers) < 3:
        return steps == {1} or (is_index and [*numbers] == ["0"])
    return len(steps) == 1 and 0 not in steps


def is_empty(row: Sequence[str]) -> bool:
    """Returns whether a row contains nothing but blanks."""
    return not any(map(str.strip, row))


def repeats(row: Sequence[str], names: Sequence[str]) -> bool:
    """Returns whether a row repeats the names of the columns.

    In files that were joined, UTF-8's mark may stand before the second names.
    """
    is_same = row[0].removeprefix("\ufeff") == names[0]
    return is_same and [*row[1:]] == [*names[1:]] != []


def _is_text(cell: str) -> bool:
    return len(cell.split()) > _MOST_WORDS or '"' in cell


def _is_missing(cell: str) -> bool:
    return not cell.strip() or cell.strip().casefold() in _MISSING


def _recurs(name: str, below: Sequence[str]) -> bool:
    return name in below and not _is_missing(name)


def _is_above_texts(name: str, below: Sequence[str]) -> bool:
    # A word above texts of many words is hardly one of the texts.
    num_words = sum(len(cell.split()) for cell in below)
    is_long = len(below) > 3 and num_words >= _MOST_WORDS * len(below)
    return is_long and len(name.split()) == 1


def _is_date(cell: str) -> bool:
    return bool(_DATE.fullmatch(cell.strip()))


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(is_number, cells))


def is_number(cell: str) -> bool:
    """Returns whether a cell contains nothing but a number."""
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,%]*(e[-+]?\d+)?\s*", cell))
