"""JSON is written completely, and bad JSON becomes one line of an error."""

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


def test_only_finite_numbers_are_written(tmp_path):
    path = tmp_path / "some.json"
    with pytest.raises(ValueError, match="nan"):
        json_files.write_json(path, {"a": float("nan")})
    assert not path.exists()
