"""Keys of the cells of a row whose column has no name of its own."""

import itertools
from collections.abc import Collection, Sequence


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
