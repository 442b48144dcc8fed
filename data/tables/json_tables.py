"""Reads the rows of JSON: an object in each line, a list, or an object of one.

Only a list must be read as a whole. An object in each line is a row, unless it
is the only one and seems to be a list that a service or pandas wrapped.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from data.io import encodings
from data.tables import headers
from files.json_files import JsonObject, parse_json
from files.paths import StrPath

_MOST_WORDS = 4
# Matches the first line of JSON lines, and of a file that is one JSON list.
# Does not match a text that begins with [MASK].
_JSON = re.compile(r"\s*(\{|\[\s*([\"{]|$))")
_Row = tuple[int, JsonObject | ValueError]


def find_text_kind(
    lines: Iterator[tuple[int, str]],
    file_format: str | None,
    columns: Collection[str] = (),
) -> tuple[list[tuple[int, str]], str]:
    """Returns what the first lines that are not blank tell of a text.

    Args:
        lines: numbered lines, of which only the first ones are read.
        file_format: "jsonl", or None if the text may be plain.
        columns: names of columns that the user chose, which tell a row.

    Returns:
        (the lines that were read, kind). The kind is "text", "jsonl", or "list"
        if the text must be read as a whole.
    """
    first = [*_until_filled(lines)]
    head = first[-1][1] if first else ""
    if file_format is None and not _JSON.match(head):
        return first, "text"
    is_list = _is_list(head, columns)
    if is_list is None:
        # An object of one list is a row if other rows follow it.
        more = [*_until_filled(lines)]
        first += more
        is_list = not any(line.strip() for _, line in more)
    return first, "list" if is_list else "jsonl"


def _until_filled(
    lines: Iterator[tuple[int, str]],
) -> Iterator[tuple[int, str]]:
    """Yields the lines up to the next one that is not blank."""
    for number, line in lines:
        yield number, line
        if line.strip():
            return


def read_json_lines(
    lines: Iterable[tuple[int, str]], encoding: str | None = None
) -> Iterator[_Row]:
    """Yields (number, row or error) of each numbered line that is not blank."""
    for number, line in lines:
        try:
            encodings.check_text(line, encoding)
            if line.strip():
                row = parse_json(line, "the row", may_be_infinite=True)
                yield number, without_nan(row)
        except ValueError as error:
            yield number, error


def read_json_list(
    path: StrPath, text: str, columns: Collection[str] = ()
) -> Iterator[_Row]:
    """Yields (number, row or error) of each entry of a list.

    Args:
        path: path of the file, for messages.
        text: the whole text.
        columns: names of columns that the user chose, which tell a row.

    Raises:
        ValueError: the list is malformed, or the file contains no rows.
    """
    objects = _objects_in(text)
    if objects:
        for number, each in enumerate(objects, 1):
            where = f"{path}, object {number}"
            row = parse_json(each, where, may_be_infinite=True)
            yield number, without_nan(row)
        return
    value = parse_json(text, str(path), object, may_be_infinite=True)
    rows = _rows_in(path, value, columns)
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield number, without_nan(row)
            continue
        yield (
            number,
            ValueError(
                f"the entry must be a JSON object. Received: {repr(row)[:80]}"
            ),
        )


def _rows_in(
    path: StrPath, value: object, columns: Collection[str]
) -> Iterable[Any]:
    if isinstance(value, dict):
        if _is_of_pandas(value):
            raise ValueError(
                f"{path} contains columns, and not rows, as pandas writes them "
                'by default. Write it with to_json(..., orient="records", '
                "lines=True)"
            )
        data = value.get("data")
        is_list = isinstance(data, list)
        value = data if is_list else _wrapped_list(value, columns)
    if not isinstance(value, list):
        raise ValueError(
            f"{path} must contain a JSON object in each line, a list of "
            'objects, or an object of one such list, as {"data": [objects]}'
        )
    return value


def _is_of_pandas(value: JsonObject) -> bool:
    # to_json writes {column: {index: cell}}, or if told so, {"columns": names,
    # "index": [...], "data": [cells of a row]}.
    if value.keys() == {"columns", "index", "data"}:
        return True
    columns = [*value.values()]
    if not columns or not all(isinstance(each, dict) for each in columns):
        return False
    indexes = {tuple(each) for each in columns}
    first = [*columns[0]]
    return len(indexes) == 1 and first != [] and all(map(str.isdecimal, first))


def _wrapped_list(
    value: JsonObject, columns: Collection[str]
) -> list[JsonObject] | None:
    # Returns the only list of objects in an object, as services answer, with
    # a count or the address of the next page beside it. A row contains a text,
    # or the usual name of a column.
    lists = {name: x for name, x in value.items() if _is_of_objects(x)}
    others = [name for name in value if name not in lists]
    texts = (value[name] for name in others if isinstance(value[name], str))
    if (
        len(lists) != 1
        or any(headers.is_usual_name(name, columns) for name in others)
        or any(len(text.split()) > _MOST_WORDS for text in texts)
    ):
        return None
    return next(iter(lists.values()))


def _is_of_objects(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) for each in value)
    )


def _objects_in(text: str) -> list[str]:
    # Returns the objects over several lines that follow each other, as jq
    # writes them, [] if the text is anything else.
    parts = re.split(r"(?<=\n\})\s*\n(?=\{\s*\n)", text.strip())
    return parts if len(parts) > 1 else []


def _is_list(head: str, columns: Collection[str]) -> bool | None:
    # Returns whether a file is one list, and not an object in each line, None
    # if it may be both. `head` is its first line.
    if head.lstrip().startswith("["):
        return True
    try:
        row = parse_json(head, "", object, may_be_infinite=True)
    except ValueError:
        # So does the first line of an object over several lines end.
        return bool(re.fullmatch(r"\s*\{(.*[,\[{:])?\s*", head))
    if not isinstance(row, dict):
        return False
    data = row.get("data")
    if isinstance(data, list) and all(isinstance(x, dict) for x in data):
        return True
    may_be_list = _is_of_pandas(row) or _wrapped_list(row, columns)
    return None if may_be_list else False


def without_nan(row: JsonObject) -> JsonObject:
    """Returns a row, in which NaN is an empty cell, None, as in pandas."""
    return {k: v if v == v else None for k, v in row.items()}
