"""Which entry of a JSON object does not have its type."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from files.typed_dict_checks import find_malformed_entry


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
    assert find_malformed_entry(values, Line) == malformed


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
    assert find_malformed_entry(values, Folder) == malformed


def test_a_required_entry_that_is_missing_is_malformed():
    assert find_malformed_entry({"kind": "a"}, Line) == "hours"


class Settings(TypedDict, total=False):
    """Entries whose types have several parts."""

    length: Annotated[int, range(3, 9)] | None
    mode: Literal["a", "b"] | None
    is_fast: bool
    row: tuple[str, int]
    more: dict[str, object]


@pytest.mark.parametrize(
    ("values", "malformed"),
    [
        ({}, None),
        ({"length": 3, "mode": "a", "is_fast": False}, None),
        ({"length": None, "mode": None, "more": {"x": True}}, None),
        ({"length": 2}, "length"),
        ({"length": True}, "length"),
        ({"mode": "c"}, "mode"),
        ({"is_fast": 1}, "is_fast"),
        ({"is_fast": None}, "is_fast"),
        ({"row": ["x", 5]}, None),
        ({"row": ["x"]}, None),
        ({"row": [5, 5]}, "row"),
        ({"row": "x"}, "row"),
        ({"more": []}, "more"),
    ],
)
def test_each_part_of_a_type_is_checked(values, malformed):
    assert find_malformed_entry(values, Settings) == malformed
