"""A few evaluated examples, as TensorBoard's TEXT page shows them."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_Element = TypeVar("_Element")

# An example with its answers, {column: text}.
Row = Mapping[str, Any]

NUM_SAMPLES = 8
_MAX_CHARACTERS = 500
# What Markdown, in which the page is written, would take for its own signs.
_SIGNS = re.compile(r"([\\`*_{}\[\]()#+.!|-])")


def spread(items: Sequence[_Element]) -> list[_Element]:
    """Returns NUM_SAMPLES of some items, spread over all of them.

    The choice is the same at each evaluation, so that their answers can be
    compared.
    """
    number = min(NUM_SAMPLES, len(items))
    return [items[index * len(items) // number] for index in range(number)]


def to_table(rows: Sequence[Row]) -> list[list[str]]:
    """Returns a table that TensorBoard shows: the columns' names, then rows.

    Args:
        rows: examples; a column that one lacks is empty there.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return [columns] + [
        [_cell(row.get(name, "")) for name in columns] for row in rows
    ]


def _cell(value: Any) -> str:
    text = str(value)
    if len(text) > _MAX_CHARACTERS:
        text = f"{text[:_MAX_CHARACTERS]} ..."
    text = _SIGNS.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False))
    return text.encode(errors="replace").decode()
