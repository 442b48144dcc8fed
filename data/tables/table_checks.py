"""Tells lines that are no rows from the first rows of a table.

A reader of cells and marks finds some rows in nearly every file, such as a web
page. What this module finds is an error that says what the file or line is.
"""

import csv
import itertools
import re
from collections.abc import Sequence

from data.tables import headers

# {beginning of a file: what it is, and what to do}.
_OTHERS = {
    r"<(!doctype\s+html|html)\b": "is a web page, and no table. Download the "
    "file that the page shows",
    r'\[?\{\s*"': "contains JSON. Give it a name that ends in .jsonl or .json",
}
# A line that is drawn around the names of columns, as |---|---| or +----+.
_RULER = re.compile(r"[\s|+:=-]*[-=]{3}[\s|+:=-]*")
# A cell of the second line of names in exports of surveys.
_SECOND_NAME = re.compile(r'\{"ImportId":.*|Open-Ended Response', re.DOTALL)
# Kinds of columns, as tools write them below the names.
_KIND_NAMES = """
bigint bool boolean category categorical char character continuous date
datetime datetime64[ns] decimal discrete double factor float float32 float64
int int32 int64 integer long nominal numeric object ordinal smallint str string
text time timestamp varchar
"""
_KINDS = frozenset(_KIND_NAMES.split())
_SHORT_KINDS = frozenset("cdst")
# Roles of columns in Orange, which stand below their kinds.
_ROLE = re.compile(r"(class|meta|ignore|weight|[cim])?( ?\w+=\S+)*")
# Marks that separate no cells here, and that a text seldom contains.
_OTHER_MARKS = ("[\x01-\x08\x1c-\x1f]", r"\^", "~", "::", r"(?<=\S) {2,}(?=\S)")
_FEW_ROWS = 3
_BLANK_AND_QUOTED = re.compile(r'\s+".*"\s*', re.DOTALL)
_IN_APOSTROPHES = re.compile(r"\s*'.*'\s*", re.DOTALL)


def check_head(path: str, head: Sequence[str]) -> None:
    """Raises a ValueError if the first lines of a file are no table.

    Args:
        path: path of the file, for messages.
        head: the first three lines.
    """
    for pattern, name in _OTHERS.items():
        if re.match(pattern, "".join(head).lstrip(), re.IGNORECASE):
            raise ValueError(f"{path} {name}")
    for line in head:
        # A quoted text may contain a drawn line.
        if '"' in line:
            return
        if _RULER.fullmatch(line):
            raise ValueError(
                f"{path}: the line {line.strip()[:80]!r} is drawn around the "
                "names of the columns. Export the table as CSV, or remove all "
                "such lines"
            )


def check_second_names(
    path: str, records: Sequence[Sequence[str]], head: Sequence[str] = ()
) -> None:
    """Raises a ValueError if a line below the names describes the columns.

    Args:
        path: path of the file, for messages.
        records: the first records.
        head: the first three lines of the file.
    """
    if len(records) < 2:
        return
    names, second, *rest = records
    third = rest[0] if rest else []
    every = [*second, *third]
    shown = next(filter(_SECOND_NAME.fullmatch, every), None)
    is_gap = len(head) == 3 and not head[2].strip()
    if not shown and (
        _are_kinds(second, third, is_gap) or _is_lower_level(names, second)
    ):
        shown = next(filter(None, second))
    if shown:
        raise ValueError(
            f"{path}: the cell {shown[:80]!r} belongs to a second line of "
            "names. Remove all lines of names but the first"
        )


def _are_kinds(
    second: Sequence[str], third: Sequence[str], is_gap: bool
) -> bool:
    # Orange writes kinds, such as `d` and `string`, and below them roles, such
    # as `class`, or an empty line.
    kinds = [cell.strip().casefold() for cell in second]
    every = [kind for kind in kinds if kind]
    are_kinds = len(every) > 1 and {*every} <= _KINDS | _SHORT_KINDS
    if are_kinds and not _KINDS.isdisjoint(every):
        return True
    if are_kinds and (is_gap or (third and not any(third))):
        return True
    # Single letters may be answers, but hardly beside an empty cell.
    roles = [cell.strip() for cell in third]
    are_letters = all(len(cell) == 1 for cell in roles)
    is_role = all(map(_ROLE.fullmatch, roles)) and any(roles)
    has_kind = not (_KINDS | _SHORT_KINDS).isdisjoint(every)
    return has_kind and is_role and not are_letters


def _is_lower_level(names: Sequence[str], second: Sequence[str]) -> bool:
    # pandas writes columns of two levels: `,reviews,reviews` and `,text,label`.
    filled = [name for name in names if name]
    is_beside = not (names[0] or second[0]) and len(names) == len(second)
    is_repeated = len({*filled}) < len(filled)
    return is_beside and is_repeated and all(second[1:])


def check_quotes(path: str, records: Sequence[Sequence[str]]) -> None:
    """Raises a ValueError if blanks precede the quotes of most cells."""
    columns = [[*filter(None, x)] for x in itertools.zip_longest(*records)]
    for cells in columns:
        blank = [*filter(_BLANK_AND_QUOTED.fullmatch, cells)]
        if 2 * len(blank) > len(cells):
            raise ValueError(
                f"{path}: the cell {blank[0][:80]!r} has a blank before its "
                "quotes. Remove such blanks, or set --noquoting if quotes are "
                "ordinary characters in this table"
            )


def check_apostrophes(path: str, records: Sequence[Sequence[str]]) -> None:
    """Raises a ValueError if apostrophes are written for quotes.

    They stand around each name, or around each cell of a column.
    """
    first, *rest = records or [[]]
    names = [*filter(None, first)]
    columns = [[*filter(None, x)] for x in itertools.zip_longest(*rest)]
    every = [cells for cells in columns if len(cells) >= _FEW_ROWS]
    if len(names) > 1:
        every.insert(0, names)
    for cells in every:
        if all(map(_IN_APOSTROPHES.fullmatch, cells)):
            raise ValueError(
                f"{path}: apostrophes stand around the cell {cells[0][:80]} "
                "and others. Write quotes for them, or set --noquoting if they "
                "belong to the cells"
            )


def check_blanks(
    path: str, lines: Sequence[str], blanks: Sequence[Sequence[str]]
) -> None:
    """Raises a ValueError if single blanks seem to separate the cells.

    Args:
        path: path of the file, for messages.
        lines: the first lines.
        blanks: the first records, if blanks separate their cells.
    """
    names, *rest = blanks or [[]]
    widths = {*map(len, rest)}
    width = max(widths, default=0)
    # R does not name the column of row names.
    if len(widths) != 1 or width < 2 or len(names) not in (width, width - 1):
        return
    cells = [cell for row in rest for cell in row]
    num_quoted = "".join(lines).count('"') // 2
    if 2 * (sum(map(headers.is_number, cells)) + num_quoted) >= len(cells):
        raise ValueError(
            f"{path}: ' ' seems to be the mark between the cells. Save the "
            "table with commas or tabs, or set --delimiter=tab if there is one "
            "column"
        )


def check_one_column(path: str, records: Sequence[Sequence[str]]) -> None:
    """Raises a ValueError if the rows of one column seem to be of several.

    Either another mark separates the cells, or each line is quoted as a whole.
    """
    first, *rest = records or [[]]
    if len(rest) < _FEW_ROWS - 1 or any(any(row[1:]) for row in rest):
        return
    lines = [row[0] for row in rest]
    width = len([cell for cell in first if cell])
    if width < 2:
        lines.insert(0, first[0])
    for pattern in _OTHER_MARKS if width < 2 else ():
        marks = [re.findall(pattern, line) for line in lines]
        if len({*map(len, marks)}) == 1 and marks[0]:
            raise ValueError(
                f"{path}: {marks[0][0]!r} seems to be the mark between the "
                "cells. Replace it by a tab in the whole file, or set "
                "--delimiter=tab if there is one column"
            )
    for delimiter in ",;\t":
        if _is_whole(lines, delimiter, width):
            raise ValueError(
                f"{path}: each line is quoted as a whole, so that the table "
                "seems to have one column. Remove the quotes around the lines, "
                'and write "" inside as ", or set --delimiter=tab if there is '
                "one column"
            )


def _is_whole(lines: Sequence[str], delimiter: str, width: int) -> bool:
    """Returns whether each line, read once more, has one number of cells.

    After a comma within a text there is a blank.
    """
    try:
        rows = [*csv.reader(lines, delimiter=delimiter, strict=True)]
    except csv.Error:
        return False
    widths = {*map(len, rows), *([width] if width > 1 else [])}
    has_blank = any(cell.startswith(" ") for row in rows for cell in row[1:])
    return len(widths) == 1 and widths != {1} and not has_blank
