"""JSON is written completely, and bad JSON becomes one line of an error."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from files import json_files


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"a": 1',
        b"\xff{}",
        b"[" * 100_000,
        b"[1]",
        b"null",
        b'{"a": {"b": NaN}}',
        b'{"a": 1e999}',
        b"1" * 5000,
        b'{"a": 1, "a": 2}',
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, content):
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^{path} [^\n]*$"):
        json_files.read_json(path)


def test_sound_files_are_read(tmp_path):
    path = tmp_path / "some.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": [1.5, "\xc3\xa9"]}')
    assert json_files.read_json(path) == {"a": [1.5, "\u00e9"]}
    assert json_files.parse_json("[1]", "here", list) == [1]


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "some.json"
    json_files.write_json(path, {"a": [1.5, "\u00e9"]})
    assert json_files.read_json(path) == {"a": [1.5, "\u00e9"]}


def test_a_number_that_is_not_finite_is_not_written(tmp_path):
    path = tmp_path / "some.json"
    with pytest.raises(ValueError, match="nan"):
        json_files.write_json(path, {"a": float("nan")})
    assert not path.exists()


class Line(TypedDict):
    """Entries of each type that a file's object may have."""

    kind: Literal["a", "b"]
    hours: float
    values: dict[str, float | None]
    count: NotRequired[int]


class Folder(TypedDict):
    """Entries that contain other objects and lists."""

    lines: list[Line]
    flags: Mapping[str, Any]


@pytest.mark.parametrize(
    ("changed", "malformed"),
    [
        ({}, None),
        ({"count": 1, "more": []}, None),
        ({"hours": 2, "values": {"x": None}}, None),
        ({"kind": "c"}, "kind"),
        ({"hours": "2"}, "hours"),
        ({"hours": True}, "hours"),
        ({"values": {"x": "y"}}, "values"),
        ({"count": 1.5}, "count"),
    ],
)
def test_the_first_malformed_entry_is_found(changed, malformed):
    values = {"kind": "a", "hours": 0.5, "values": {"x": 1.0}} | changed
    assert json_files.find_malformed_entry(values, Line) == malformed


@pytest.mark.parametrize(
    ("changed", "malformed"),
    [
        ({}, None),
        ({"lines": []}, None),
        ({"lines": {"kind": "a"}}, "lines"),
        ({"lines": [{"kind": "a"}]}, "lines"),
        ({"lines": ["a"]}, "lines"),
        ({"flags": ["seed"]}, "flags"),
    ],
)
def test_lists_and_objects_in_an_entry_are_checked_too(changed, malformed):
    line = {"kind": "a", "hours": 0.5, "values": {}}
    values = {"lines": [line], "flags": {"seed": 5, "names": []}} | changed
    assert json_files.find_malformed_entry(values, Folder) == malformed


def test_a_required_entry_that_is_missing_is_malformed():
    assert json_files.find_malformed_entry({"kind": "a"}, Line) == "hours"
