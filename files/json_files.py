"""Reads and writes JSON.

If JSON from a user or another program is malformed, `read_json`, `parse_json`
and `read_entry` raise a ValueError whose message is one line and names the
file.
"""

import json
import math
import os
from collections.abc import Mapping
from typing import TypeAlias, TypeVar, overload

from files.atomic import write_text
from files.paths import StrPath, explain_file_errors

# A JSON object, or a row of a table, {column: cell}. Its values are objects, so
# that mypy demands a check of the type of each value that is read, because the
# file may come from a user or from another program.
JsonObject: TypeAlias = dict[str, object]
EntryT = TypeVar("EntryT")
ValueT = TypeVar("ValueT")
# {type in Python: JSON's name, without and with its article}.
_NAME_OF_TYPE: dict[type, str] = {dict: "object", list: "list"}
_NAME_WITH_ARTICLE_OF_TYPE: dict[type, str] = {
    dict: "an object",
    list: "a list",
}


def read_json(path: StrPath) -> JsonObject:
    """Reads a local file in UTF-8 that contains a JSON object.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not JSON, or contains no object.
    """
    with explain_file_errors(path), open(path, "rb") as file:
        text = file.read()
    return parse_json(text, os.fspath(path))


def write_json(path: StrPath, contents: object, indent: int = 2) -> None:
    """Writes a JSON file, complete or not at all.

    Raises:
        OSError: the file cannot be written.
        ValueError: a number in `contents` is not finite.
    """
    text = json.dumps(contents, indent=indent, allow_nan=False)
    write_text(path, f"{text}\n")


@overload
def parse_json(
    text: str | bytes, place: str, *, may_be_infinite: bool = False
) -> JsonObject: ...
@overload
def parse_json(
    text: str | bytes,
    place: str,
    value_type: type[ValueT],
    may_be_infinite: bool = False,
) -> ValueT: ...
def parse_json(
    text: str | bytes,
    place: str,
    value_type: type = dict,
    may_be_infinite: bool = False,
) -> object:
    """Parses JSON text.

    Bytes must be UTF-8, with or without a byte order mark. Error messages begin
    with `place`, such as "data.jsonl, line 3". The text must contain a value of
    `value_type`: dict, list, or object for any type. If `may_be_infinite`, the
    text may contain numbers that are not finite, as Python and pandas write
    them.

    Raises:
        ValueError: the text is not JSON, its value is of another type, is
            nested too deeply, or contains a number that is not finite.
    """

    def parse_object(pairs: list[tuple[str, object]]) -> JsonObject:
        # Of two values of one key, json would silently keep the last.
        if len(value := dict(pairs)) < len(pairs):
            raise ValueError(
                f"a key is repeated in {[key for key, _ in pairs]}"
            )
        return value

    def parse_float(digits: str) -> float:
        # Python's json also reads NaN and Infinity, which are no JSON.
        value = float(digits)
        if not (may_be_infinite or math.isfinite(value)):
            raise ValueError(f"{digits} is not a finite number")
        return value

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        value = json.loads(  # noqa: TID251  the one place
            text,
            parse_constant=parse_float,
            parse_float=parse_float,
            object_pairs_hook=parse_object,
        )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not valid JSON: {error}") from error
    if not isinstance(value, value_type):
        name = _NAME_OF_TYPE.get(value_type, value_type.__name__)
        raise ValueError(
            f"{place} must contain a JSON {name}. Received: {repr(value)[:80]}"
        )
    return value


def read_entry(
    values: Mapping[str, object],
    name: str,
    value_type: type[EntryT],
    source: str,
) -> EntryT:
    """Returns an entry of a JSON object, an empty value if it is missing.

    Args:
        values: the JSON object that may contain the entry.
        name: name of the entry. null counts as missing.
        value_type: type that the entry must have, dict or list.
        source: path of the file, for messages.

    Raises:
        ValueError: the entry is of another type.
    """
    value = values.get(name)
    if value is None:
        return value_type()
    if not isinstance(value, value_type):
        raise ValueError(
            f"{source}: `{name}` must be "
            f"{_NAME_WITH_ARTICLE_OF_TYPE[value_type]}. "
            f"Received: {value!r:.80}"
        )
    return value
