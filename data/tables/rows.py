"""Defines the rows of tables, which the readers of all formats yield.

A row is {key of a column: cell}. `RowBuilder` builds it from the cells of CSV,
TSV and Excel, and says what is wrong with a malformed one. The functions at the
end recognize what is in a cell: a number, a date, or no value at all.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from files.json_files import JsonObject
from files.paths import StrPath

# Number of first rows that show the width of a table without a header, if the
# user chose its dialect.
_NUM_FIRST_ROWS = 3
# Cells without a value.
_MISSING = frozenset(("-", "?", "n/a", "na", "nan", "none", "null"))
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d{2,4})([T ].*)?")


class NumberedRow(NamedTuple):
    """A row of a file, which may be malformed.

    Attributes:
        number: in a JSON list, Parquet and Excel, the number of the row. In
            other files, the number of the line in which the row begins.
        cells: {key of a column: cell}, or the error of a malformed row.
    """

    number: int
    cells: JsonObject | ValueError

    def place_in(self, path: StrPath) -> str:
        """Returns the place of this row in the file `path`, for messages."""
        return f"{path}, line {self.number}"

    def require_cells(self, path: StrPath) -> JsonObject:
        """Returns {key of a column: cell} of this row of the file `path`.

        Raises:
            ValueError: the row is malformed. The message names its place.
        """
        if isinstance(self.cells, ValueError):
            raise ValueError(f"{self.place_in(path)}: {self.cells}")
        return self.cells


class NumberedCells(NamedTuple):
    """The cells of a row, before they get the keys of their columns.

    Attributes:
        number: number of the row, as in a NumberedRow.
        cells: the texts of the row, from its first column on.
    """

    number: int
    cells: list[str]


class RowBuilder:
    """Builds the rows of a table from cells, and finds malformed ones.

    Most rows of a table without a header must have the same width, which is
    their number of cells.

    Args:
        names: names of the columns, [] if the table has no header.
        width: number of cells of a row without names, 0 if rows may differ. If
            None, the first rows show the number.
        may_be_wider: whether some rows without names have further cells, as in
            STS benchmarks.
    """

    def __init__(
        self,
        names: Sequence[str],
        width: int | None = None,
        may_be_wider: bool = False,
    ) -> None:
        self._names = [*names]
        if names:
            # The file was saved twice with UTF-8's mark.
            self._names[0] = names[0].removeprefix("\ufeff")
        self._keys = unique_keys(self._names)
        self._width = width
        self._may_be_wider = may_be_wider
        self._first_widths: list[int] = []
        self._max_width = 0

    def build(self, cells: list[str]) -> JsonObject | ValueError:
        """Returns a row, {column: cell}, or an error that says what is wrong.

        `cells` are the cells of the row.
        """
        if self._names:
            problem = self._describe_problem_under_names(cells)
        else:
            problem = self._compare_width(cells)
        if problem:
            return malformed_row_error(problem, cells)
        if len(cells) != len(self._keys):
            self._keys = [*map(ColumnNumber, range(1, len(cells) + 1))]
        return dict(zip(self._keys, cells, strict=True))

    def _describe_problem_under_names(self, cells: list[str]) -> str | None:
        """Returns the error in a row of a table with a header, or None."""
        names = self._names
        if len(cells) != len(names):
            return (
                f"the line has {len(cells)} columns, but the first line has "
                f"{len(names)}"
            )
        # Compare the first cell first, because it differs in nearly all rows.
        if cells[0].endswith(names[0]) and is_repeated_header(cells, names):
            return "the line repeats the names of the columns. Remove it"
        return None

    def _compare_width(self, cells: Sequence[str]) -> str | None:
        """Compares the width of a row without names with that of others.

        Notes the width, and returns the error if it is wrong.
        """
        width = len(cells)
        if width == self._width:
            return None
        self._max_width = max(self._max_width, width, self._width or 0)
        # MySQL writes a backslash before a line break in a cell.
        if width < self._max_width and cells[-1].endswith("\\"):
            return (
                f"the line ends in a backslash and has {width} columns, but "
                f"other lines have {self._max_width}. Replace the line breaks "
                "in cells by blanks"
            )
        if self._width is None:
            self._learn_width(width)
        usual_width = self._width or width
        is_wider = width > usual_width and self._may_be_wider
        if width == usual_width or is_wider:
            return None
        return (
            f"the line has {width} columns, but other lines have {usual_width}"
        )

    def _learn_width(self, width: int) -> None:
        """Notes the width of a row, and after the first rows, the common width.

        The rows are not read ahead, because a pipe may not have more yet.
        """
        self._first_widths.append(width)
        if len(self._first_widths) == _NUM_FIRST_ROWS:
            self._width = compute_common_width(self._first_widths)


def malformed_row_error(problem: str, cells: Sequence[str]) -> ValueError:
    """Returns the error about a row, which shows the cells of the row."""
    return ValueError(f"{problem}. Received: {cells}"[:300])


class RepeatedName(str):
    """Key of a column whose name an earlier column of the table has too.

    The key is the name and a number, such as "Labels.1", so that a row keeps
    the cells of both columns.

    Attributes:
        name: the name in the file, which both columns have.
    """

    name: str

    def __new__(cls, name: str, taken: Collection[str]) -> "RepeatedName":
        """Creates the first key `name.1`, `name.2` that is not in `taken`."""
        keys = (f"{name}.{suffix}" for suffix in itertools.count(1))
        free_key = next(key for key in keys if key not in taken)
        column = super().__new__(cls, free_key)
        column.name = name
        return column


class ColumnNumber(str):
    """Key of a column of a table without a header: "1", "2" and so on."""


def unique_keys(names: Sequence[str]) -> list[str]:
    """Replaces each name that an earlier column has by a RepeatedName.

    Examples:
        >>> unique_keys(["id", "text", "text"])
        ['id', 'text', 'text.1']

    A dict keeps the order, and finds a name in a table of many columns fast.
    """
    keys: dict[str, None] = {}
    for name in names:
        key = RepeatedName(name, {*names, *keys}) if name in keys else name
        keys[key] = None
    return [*keys]


def compute_common_width(widths: Sequence[int]) -> int:
    """Returns the width of at least half of some rows, 0 if none is.

    For example, 3 for rows of 3, 3, 2 and 1 cells, and 0 for 3, 2 and 1.
    """
    if not widths:
        return 0
    ((width, num_rows),) = Counter(widths).most_common(1)
    return width if 2 * num_rows >= len(widths) else 0


def without_nan(row: JsonObject) -> JsonObject:
    """Returns a row, in which NaN is an empty cell, None, as in pandas."""
    return {
        column: cell if cell == cell else None for column, cell in row.items()
    }


def is_repeated_header(row: Sequence[str], names: Sequence[str]) -> bool:
    """Returns whether a row repeats the names of the columns.

    In files that were joined, UTF-8's mark may stand before the second names.
    """
    if len(names) < 2:
        return False
    is_same = row[0].removeprefix("\ufeff") == names[0]
    return is_same and [*row[1:]] == [*names[1:]]


def is_empty_row(row: Sequence[str]) -> bool:
    """Returns whether a row contains nothing but blanks."""
    return not any(map(str.strip, row))


def is_number(cell: str) -> bool:
    """Returns whether a cell contains nothing but a number."""
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,%]*(e[-+]?\d+)?\s*", cell))


def are_numbers(cells: Sequence[str]) -> bool:
    """Returns whether there are cells, and all contain numbers."""
    return bool(cells) and all(map(is_number, cells))


def is_date(cell: str) -> bool:
    """Returns whether a cell contains a date, with or without a time."""
    return bool(_DATE.fullmatch(cell.strip()))


def are_dates(cells: Sequence[str]) -> bool:
    """Returns whether there are cells, and all contain dates."""
    return bool(cells) and all(map(is_date, cells))


def is_year(cell: str) -> bool:
    """Returns whether a cell is a year from 1600 to 2199."""
    return bool(_YEAR.fullmatch(cell))


def is_missing(cell: str) -> bool:
    """Returns whether a cell is blank, or says that it has no value."""
    return not cell.strip() or cell.strip().casefold() in _MISSING
