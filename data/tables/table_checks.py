"""Refuses files that are no tables, or whose cells have unusual marks.

Nearly every file can somehow be read as rows, even a web page. Each check
recognizes one kind of file, or of marks between or around cells, and says what
it is.
"""

import csv
import itertools
import re
from collections.abc import Sequence

from data.tables.rows import is_number

# {beginning of a file: what it is, and what to do}.
_FORMATS_OF_OTHERS = {
    r"<(!doctype\s+html|html)\b": "is a web page, and no table. Download the "
    "file that the page shows",
    r'\[?\{\s*"': "contains JSON. Give it a name that ends in .jsonl or .json",
}
# A line that is drawn around the names of columns, as |---|---| or +----+.
_RULER = re.compile(r"[\s|+:=-]*[-=]{3}[\s|+:=-]*")
# Marks that separate no cells here, and that a text seldom contains.
_OTHER_MARKS = ("[\x01-\x08\x1c-\x1f]", r"\^", "~", "::", r"(?<=\S) {2,}(?=\S)")
# So many cells of a column show that apostrophes stand for quotes.
_MIN_CELLS_IN_APOSTROPHES = 3
_BLANK_AND_QUOTED = re.compile(r'\s+".*"\s*', re.DOTALL)
_IN_APOSTROPHES = re.compile(r"\s*'.*'\s*", re.DOTALL)


def check_first_lines(path: str, first_lines: Sequence[str]) -> None:
    """Checks that the first lines of a file are a table.

    Raises:
        ValueError: the lines are something else.
    """
    for pattern, name in _FORMATS_OF_OTHERS.items():
        if re.match(pattern, "".join(first_lines).lstrip(), re.IGNORECASE):
            raise ValueError(f"{path} {name}")
    for line in first_lines:
        # A quoted text may contain a drawn line.
        if '"' in line:
            return
        if _RULER.fullmatch(line):
            raise ValueError(
                f"{path}: the line {line.strip()[:80]!r} is drawn around the "
                "names of the columns. Export the table as CSV, or remove all "
                "such lines"
            )


def check_quotes(path: str, rows: Sequence[Sequence[str]]) -> None:
    """Checks that no blanks precede the quotes of most cells.

    Raises:
        ValueError: blanks precede the quotes.
    """
    for cells in _filled_columns(rows):
        spaced = [*filter(_BLANK_AND_QUOTED.fullmatch, cells)]
        if 2 * len(spaced) > len(cells):
            raise ValueError(
                f"{path}: the cell {spaced[0][:80]!r} has a blank before its "
                "quotes. Remove such blanks, or set --noquoting if quotes are "
                "ordinary characters in this table"
            )


def check_apostrophes(path: str, rows: Sequence[Sequence[str]]) -> None:
    """Checks that the file does not use apostrophes as quotes.

    Apostrophes are quotes if they stand around each name, or around each cell
    of a column.

    Raises:
        ValueError: the file uses apostrophes as quotes.
    """
    first, *rest = rows or [[]]
    names = [*filter(None, first)]
    columns = _filled_columns(rest)
    lists = [
        cells for cells in columns if len(cells) >= _MIN_CELLS_IN_APOSTROPHES
    ]
    if len(names) > 1:
        lists.insert(0, names)
    for cells in lists:
        if all(map(_IN_APOSTROPHES.fullmatch, cells)):
            raise ValueError(
                f"{path}: apostrophes stand around the cell {cells[0][:80]} "
                "and others. Write quotes for them, or set --noquoting if they "
                "belong to the cells"
            )


def _filled_columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Returns the cells of each column that are not empty."""
    columns = itertools.zip_longest(*rows)
    return [[cell for cell in cells if cell] for cells in columns]


def check_blanks(
    path: str, lines: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Checks that single blanks do not seem to separate the cells.

    Args:
        path: path of the file, for messages.
        lines: the first lines, as the file contains them.
        rows: the first rows, if blanks separate their cells.

    Raises:
        ValueError: single blanks seem to separate the cells.
    """
    names, *rest = rows or [[]]
    widths = {*map(len, rest)}
    width = max(widths, default=0)
    # R does not name the column of row names.
    if len(widths) != 1 or width < 2 or len(names) not in (width, width - 1):
        return
    cells = [cell for row in rest for cell in row]
    num_quoted = "".join(lines).count('"') // 2
    if 2 * (sum(map(is_number, cells)) + num_quoted) >= len(cells):
        raise ValueError(
            f"{path}: ' ' seems to be the mark between the cells. Save the "
            "table with commas or tabs, or set --delimiter=tab if there is one "
            "column"
        )


def check_one_column(path: str, rows: Sequence[Sequence[str]]) -> None:
    """Checks that the rows of one column do not seem to be of several.

    They are of several if another mark separates the cells, or if each line is
    quoted as a whole.

    Raises:
        ValueError: the rows seem to be of several columns.
    """
    first, *rest = rows or [[]]
    if len(rest) < 2 or any(any(row[1:]) for row in rest):
        return
    lines = [row[0] for row in rest]
    num_names = len([cell for cell in first if cell])
    if num_names < 2:
        lines.insert(0, first[0])
        _check_other_marks(path, lines)
    for delimiter in ",;\t":
        if _are_quoted_rows(lines, delimiter, num_names):
            raise ValueError(
                f"{path}: each line is quoted as a whole, so that the table "
                "seems to have one column. Remove the quotes around the lines, "
                'and write "" inside as ", or set --delimiter=tab if there is '
                "one column"
            )


def _check_other_marks(path: str, lines: Sequence[str]) -> None:
    """Raises a ValueError if another mark seems to be the delimiter.

    Each line then contains the same number of this mark.
    """
    for pattern in _OTHER_MARKS:
        marks = [re.findall(pattern, line) for line in lines]
        if len({*map(len, marks)}) == 1 and marks[0]:
            raise ValueError(
                f"{path}: {marks[0][0]!r} seems to be the mark between the "
                "cells. Replace it by a tab in the whole file, or set "
                "--delimiter=tab if there is one column"
            )


def _are_quoted_rows(
    lines: Sequence[str], delimiter: str, num_names: int
) -> bool:
    """Returns whether lines without their quotes are rows of one width.

    If there are several names, each row must have `num_names` cells. A blank
    after a comma shows that the comma is in a text, not between two cells.
    """
    try:
        rows = [*csv.reader(lines, delimiter=delimiter, strict=True)]
    except csv.Error:
        return False
    widths = {*map(len, rows), *([num_names] if num_names > 1 else [])}
    has_blank = any(cell.startswith(" ") for row in rows for cell in row[1:])
    return len(widths) == 1 and widths != {1} and not has_blank
