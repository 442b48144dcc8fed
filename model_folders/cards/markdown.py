"""Writes values into Markdown, so that a reader sees exactly the values.

Markdown is GitHub's and the Hugging Face hub's. Labels and file names come from
the user's data: they may contain marks of Markdown, or HTML.
"""

import itertools
import json
from collections.abc import Sequence


class Markdown(str):
    """Text that is Markdown already, so that `format_text` keeps it."""

    __slots__ = ()


# {character: how text contains it}. `_` is a mark only at the end of a word.
_ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*[]~|$#"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)


def format_text(value: object) -> Markdown:
    """Returns a value as text inside a line, or in a cell of a table."""
    if isinstance(value, Markdown):
        return value
    line = _join_lines(str(value))
    padded = f" {line} "
    marks = []
    for index, mark in enumerate(line):
        before, after = padded[index], padded[index + 2]
        if mark == "_" and not (_is_of_word(before) and _is_of_word(after)):
            marks.append("\\_")
        else:
            marks.append(mark.translate(_ESCAPES))
    return Markdown("".join(marks))


def format_code(value: object) -> Markdown:
    """Returns a value as code inside a line."""
    line = _join_lines(str(value))
    fence = "`" * (_longest_run(line) + 1)
    is_bare = line.startswith("`") or line.endswith("`")
    # Markdown takes away one space at both ends.
    is_spaced = line.startswith(" ") and line.endswith(" ") and line.strip()
    space = " " if is_bare or is_spaced else ""
    return Markdown(f"{fence}{space}{line}{space}{fence}")


def format_code_in_cell(value: object) -> Markdown:
    """Returns a value as code in a cell of a table."""
    return Markdown("\\|".join(format_code(value).split("|")))


def format_block(lines: str | Sequence[str], language: str) -> Markdown:
    """Returns a block of code, without the end of its last line."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    fence = "`" * max(_longest_run(text) + 1, 3)
    return Markdown(f"{fence}{language}\n{text}\n{fence}")


def format_literal(value: str | Sequence[str]) -> Markdown:
    """Returns text, or a list of texts, as Python for a block of code."""
    return Markdown(json.dumps(value, ensure_ascii=False))


def _join_lines(text: str) -> str:
    return " ".join(text.splitlines())


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _longest_run(text: str) -> int:
    """Returns the number of backticks in the longest run of backticks."""
    runs = [len([*run]) for mark, run in itertools.groupby(text) if mark == "`"]
    return max(runs, default=0)
