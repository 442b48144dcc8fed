"""Recognizes what is in a cell: a number, a date, or no value at all."""

import re
from collections.abc import Sequence

# Cells without a value.
_MISSING = frozenset(("-", "?", "n/a", "na", "nan", "none", "null"))
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
_DATE = re.compile(r"(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d{2,4})([T ].*)?")


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
