"""Reads the rows of JSON: one object per line, a list, or a wrapped list.

The object in each line is a row. But if a file contains only one object, it may
be the wrapper in which a service or pandas writes a list. Only a list must be
read as a whole.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias, TypeGuard

from data.io import encodings
from data.io.text_files import NumberedLine
from data.tables.column_names import is_usual_name
from data.tables.rows import NumberedRow, without_nan
from files.json_files import JsonObject, parse_json
from files.paths import StrPath

# More words than a field beside a wrapped list usually has.
_MAX_WORDS_OF_FIELD = 4
# Matches the first line of JSON lines, and of a file that is one JSON list.
# Does not match a text that begins with [MASK].
_JSON_BEGINNING = re.compile(r"\s*(\{|\[\s*([\"{]|$))")
# What a text contains. A "list" must be read as a whole.
TextFormat: TypeAlias = Literal["text", "jsonl", "list"]


class GuessedFormat(NamedTuple):
    """The format of a text file, and the lines that show it.

    Attributes:
        text_format: what the text contains.
        lines_read: the first lines, which were read to guess the format.
    """

    text_format: TextFormat
    lines_read: list[NumberedLine]


def guess_text_format(
    lines: Iterator[NumberedLine],
    columns: Collection[str] = (),
    *,
    is_json: bool,
) -> GuessedFormat:
    """Guesses the format of a text file by its first lines.

    Blank lines do not count.

    Args:
        lines: the lines, of which only the first ones are read.
        columns: names of columns that the user chose. An object with one of
            them is a row.
        is_json: whether the text is known to be JSON, not plain.
    """
    lines_read = [*_read_until_filled(lines)]
    first_line = lines_read[-1].text if lines_read else ""
    if not is_json and not _JSON_BEGINNING.match(first_line):
        return GuessedFormat("text", lines_read)
    text_format = _guess_by_first_line(first_line, columns)
    if text_format is None:
        # An object of one list is a row if other rows follow it.
        next_lines = [*_read_until_filled(lines)]
        lines_read += next_lines
        has_more_rows = any(line.text.strip() for line in next_lines)
        text_format = "jsonl" if has_more_rows else "list"
    return GuessedFormat(text_format, lines_read)


def _read_until_filled(
    lines: Iterator[NumberedLine],
) -> Iterator[NumberedLine]:
    """Yields the lines up to the next one that is not blank."""
    for line in lines:
        yield line
        if line.text.strip():
            return


def _guess_by_first_line(
    first_line: str, columns: Collection[str]
) -> TextFormat | None:
    """Guesses what a file of JSON contains, by its first line.

    Returns "list" for one list, "jsonl" for an object in each line, and None if
    the first line fits both.
    """
    if first_line.lstrip().startswith("["):
        return "list"
    try:
        row = parse_json(first_line, "", object, may_be_infinite=True)
    except ValueError:
        # The first line of an object over several lines ends like this.
        is_opened = re.fullmatch(r"\s*\{(.*[,\[{:])?\s*", first_line)
        return "list" if is_opened else "jsonl"
    if not isinstance(row, dict):
        return "jsonl"
    data = row.get("data")
    if isinstance(data, list):
        is_of_objects = all(isinstance(entry, dict) for entry in data)
        if is_of_objects:
            return "list"
    may_be_list = _is_of_pandas(row) or _find_wrapped_list(row, columns)
    return None if may_be_list else "jsonl"


def read_json_lines(
    lines: Iterable[NumberedLine], encoding: str | None = None
) -> Iterator[NumberedRow]:
    """Yields the row of each line that is not blank."""
    for line_number, line in lines:
        try:
            encodings.check_encoding(line, encoding)
            if line.strip():
                row = parse_json(line, "the row", may_be_infinite=True)
                yield NumberedRow(line_number, without_nan(row))
        except ValueError as error:
            yield NumberedRow(line_number, error)


def read_json_list(
    path: StrPath, text: str, columns: Collection[str] = ()
) -> Iterator[NumberedRow]:
    """Yields the row of each entry of a list.

    Args:
        path: path of the file, for messages.
        text: the whole text.
        columns: names of columns that the user chose. An object with one of
            them is a row.

    Raises:
        ValueError: the list is malformed, or the file contains no rows.
    """
    objects = _split_objects(text)
    if objects:
        for entry_number, json_object in enumerate(objects, 1):
            place = f"{path}, object {entry_number}"
            row = parse_json(json_object, place, may_be_infinite=True)
            yield NumberedRow(entry_number, without_nan(row))
        return
    value = parse_json(text, str(path), object, may_be_infinite=True)
    for entry_number, entry in enumerate(_unwrap_list(path, value, columns), 1):
        if isinstance(entry, dict):
            yield NumberedRow(entry_number, without_nan(entry))
        else:
            error = ValueError(
                f"the entry must be a JSON object. Received: {entry!r:.80}"
            )
            yield NumberedRow(entry_number, error)


def _split_objects(text: str) -> list[str]:
    """Returns the objects over several lines that follow each other.

    jq writes such a text. Returns [] if the text is anything else.
    """
    parts = re.split(r"(?<=\n\})\s*\n(?=\{\s*\n)", text.strip())
    return parts if len(parts) > 1 else []


def _unwrap_list(
    path: StrPath, value: object, columns: Collection[str]
) -> list[object]:
    """Returns a list, or the list that an object wraps."""
    if isinstance(value, dict):
        if _is_of_pandas(value):
            raise ValueError(
                f"{path} contains columns, and not rows, as pandas writes them "
                'by default. Write it with to_json(..., orient="records", '
                "lines=True)"
            )
        data = value.get("data")
        is_list = isinstance(data, list)
        value = data if is_list else _find_wrapped_list(value, columns)
    if not isinstance(value, list):
        raise ValueError(
            f"{path} must contain a JSON object in each line, a list of "
            'objects, or an object of one such list, as {"data": [objects]}'
        )
    return value


def _is_of_pandas(value: JsonObject) -> bool:
    """Returns whether pandas wrote an object, whose entries are columns.

    to_json writes {column: {index: cell}}, or if told so, {"columns": names,
    "index": [...], "data": [cells of a row]}.
    """
    if value.keys() == {"columns", "index", "data"}:
        return True
    columns = [column for column in value.values() if isinstance(column, dict)]
    if not columns or len(columns) < len(value):
        return False
    first_index = tuple(columns[0])
    is_same_in_all = {tuple(column) for column in columns} == {first_index}
    is_numbered = first_index != () and all(map(str.isdecimal, first_index))
    return is_same_in_all and is_numbered


def _find_wrapped_list(
    value: JsonObject, columns: Collection[str]
) -> list[JsonObject] | None:
    """Returns the only list of objects in an object, None if it is a row.

    Services answer with such an object, in which a count or the address of the
    next page may be beside the list. A row contains a text, or the usual name
    of a column.
    """
    lists = {
        name: field for name, field in value.items() if _is_of_objects(field)
    }
    others = {name: value[name] for name in value if name not in lists}
    texts = [field for field in others.values() if isinstance(field, str)]
    if (
        len(lists) != 1
        or any(is_usual_name(name, columns) for name in others)
        or any(len(text.split()) > _MAX_WORDS_OF_FIELD for text in texts)
    ):
        return None
    [wrapped_list] = lists.values()
    return wrapped_list


def _is_of_objects(value: object) -> TypeGuard[list[JsonObject]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, dict) for entry in value)
    )
