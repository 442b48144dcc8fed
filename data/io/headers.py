"""Finds whether the first record of a table names the columns.

The records below tell: they are wider than a title, a name stands above a
column of numbers, and a cell that recurs below itself is no name.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence

from data.io.column_names import HEADER, simplify

# Cells without a value.
_MISSING = frozenset(("-", "?", "n/a", "na", "nan", "none", "null"))
# More words than a name of a column usually has.
_MOST_WORDS = 4


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
        raise ValueError(
            f"{path}: the first line, {shown[:80]!r}, seems to be a title "
            f"above a table of {len(rest[-1])} columns. Remove what is above "
            "the names of the columns, or set --delimiter=tab if there is one "
            "column"
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
    is_title = all(rest[0]) or (width > 2 and is_above)
    return has_one_cell and is_title and not is_usual(first[0], columns)


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
    not. So does any cell that recurs, if the row contains a text or number.
    Without one, a label may name its column.

    Raises:
        ValueError: nothing tells.
    """
    first, *rest = records
    rest = [row for row in rest if not repeats(row, first)]
    signs: set[bool | None] = set()
    may_be_name = recurs = False
    # A text stands in a row more often than in a name.
    is_row = any(map(_is_text, first))
    for i, name in enumerate(first):
        below = [row[i] for row in rest if len(row) > i and row[i].strip()]
        sign = _is_name(name, below)
        if sign is not False and name not in below and is_usual(name, columns):
            sign = True
        elif sign and is_row:
            sign = None
        signs.add(sign)
        recurs |= _recurs(name, below)
        may_be_name |= _is_above_texts(name, below)
    signs.discard(None)
    if recurs:
        may_be_name |= not is_row and False not in signs
        signs.add(False)
    if signs == {False} and may_be_name:
        signs.add(True)
    if len(signs) == 1:
        return True in signs
    raise ValueError(
        f"{path}: nothing tells whether the first line names the columns. Set "
        "--has_header if it does, or else --nohas_header. It is "
        f"{', '.join(first)[:80]!r}"
    )


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


def _is_name(name: str, below: Sequence[str]) -> bool | None:
    # Returns whether a first cell is a name, None if nothing tells.
    if _is_missing(name):
        return None
    numbers = [*map(_is_number, below)]
    if below and all(numbers):
        return not _is_number(name)
    counts = Counter(below)
    recur = len(below) > 3 and min(counts.values()) > 1
    return True if recur and name not in counts else None


def _recurs(name: str, below: Sequence[str]) -> bool:
    return name in below and not _is_missing(name)


def _is_above_texts(name: str, below: Sequence[str]) -> bool:
    # A word above texts of many words is hardly one of the texts.
    num_words = sum(len(cell.split()) for cell in below)
    is_long = len(below) > 3 and num_words >= _MOST_WORDS * len(below)
    return is_long and len(name.split()) == 1


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,%]*(e[-+]?\d+)?\s*", cell))
