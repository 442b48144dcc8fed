"""Encodings: the marks of files, and advice about other bytes."""

import pytest

from data.io import encodings
from data.tables.table_layout import TableLayout
from data.tables.tables import Table, read_rows, read_table


@pytest.mark.parametrize(
    ("encoding", "text", "word"),
    [
        ("cp1252", "Here \u2013 J\xfcrgen\u2019s", "J\xfcrgen\u2019s"),
        ("cp1252", "\u201cQuoted\u201d and \xa3100", "\u201cQuoted\u201d"),
        ("cp1251", "\u041f\u0440\u0438\u0432\u0435\u0442", None),
        ("gb18030", "\u8fd9\u4e2a\u7535\u5f71\u5f88\u597d\u770b", None),
        ("cp932", "\u3053\u306e\u6620\u753b\u306f\u9762\u767d\u3044", None),
        ("big5", "\u9019\u90e8\u96fb\u5f71\u5f88\u597d\u770b", None),
        ("mac_roman", "Caf\xe9 na\xefve r\xe9sum\xe9", "Caf\xe9"),
        ("koi8_r", "\u041f\u0440\u0438\u0432\u0435\u0442", None),
    ],
)
def test_the_likeliest_encodings_show_the_word(encoding, text, word):
    line = text.encode(encoding).decode("utf-8", "surrogateescape")
    with pytest.raises(ValueError, match="not UTF-8") as error:
        encodings.check_encoding(line)
    message = str(error.value)
    assert f"in {encoding}" in message
    assert f"--encoding={encoding}" in message or f"{encoding}. Set" in message
    assert repr(word or text) in message
    assert message.count("-f ") == 2


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
@pytest.mark.parametrize("order", ["le", "be"])
def test_utf_16_is_read_with_its_mark_or_when_told(tmp_path, name, order):
    text = {"a.jsonl": '{"text": "Caf\xe9"}\n', "a.csv": "text\nCaf\xe9\n"}
    path = tmp_path / name
    line = text.get(name, "Caf\xe9\n")
    path.write_bytes(("\ufeff" + line).encode(f"utf-16-{order}"))
    ((_, row),) = read_rows(path)
    assert row == {"text": "Caf\xe9"}
    path.write_bytes(line.encode(f"utf-16-{order}"))
    with pytest.raises(ValueError, match=f"--encoding=utf-16-{order}"):
        [*read_rows(path)]
    ((_, row),) = read_rows(path, TableLayout(encoding=f"utf-16-{order}"))
    assert row == {"text": "Caf\xe9"}


@pytest.fixture
def utf_8(tmp_path):
    """A table in UTF-8."""
    path = tmp_path / "a.csv"
    path.write_bytes("text\nCaf\xe9\n".encode())
    return path


def test_a_misspelled_encoding_is_named(utf_8):
    with pytest.raises(ValueError, match="--encoding=cp12 is no encoding"):
        [*read_rows(utf_8, TableLayout(encoding="cp12"))]


@pytest.mark.parametrize("encoding", ["ascii", "utf-32-le"])
def test_a_text_in_another_encoding_is_an_error(utf_8, encoding):
    table = Table(utf_8, TableLayout(encoding=encoding))
    with pytest.raises(ValueError, match=f"the text is not {encoding}"):
        [*read_table(table, ["text"])]
