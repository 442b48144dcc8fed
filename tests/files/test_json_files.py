"""Every kind of bad JSON becomes one line that names the file."""

import pytest

from files import atomic, json_files


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "Expecting value, line 1, column 1"),
        (b'{"a": 1', "line 1, column 8"),
        (b"\xff{}", "byte 0 is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": {"b": NaN}}', "NaN is not a finite number"),
        (b'{"a": 1e999}', "1e999 is not"),
        (b'{"a": ' + b"1" * 5000 + b"}", "4300 digits"),
        (b"[1]", "must contain a JSON object"),
        (b"null", "Received: null"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, content, says):
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(ValueError) as refused:
        json_files.read_json(path)
    message = str(refused.value)
    assert message.startswith(str(path)) and says in message
    assert "\n" not in message


def test_sound_files_are_read(tmp_path):
    path = tmp_path / "some.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": [1.5, "\xc3\xa9"]}')
    assert json_files.read_json(path) == {"a": [1.5, "\u00e9"]}
    assert json_files.parse_json("[1]", "here", list) == [1]
    assert json_files.parse_json("1", "here", object) == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_never_written(tmp_path, number):
    path = tmp_path / "some.json"
    with pytest.raises(ValueError, match=f"{path} would contain NaN or inf"):
        atomic.write_json(path, {"a": [number]})
    assert not list(tmp_path.iterdir())
