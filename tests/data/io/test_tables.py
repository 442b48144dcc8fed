"""The reader of tables: forms, delimiters, packed files, and broken ones."""

import gzip
import json

import pytest

from data.classification.features import MrpcProcessor
from data.io import tables
from data.io.tables import read_rows, read_table
from data.squad import reading as squad

ROWS = [{"id": 7, "text": "a; b,\tc", "label": "x"}, {"id": 8, "text": "d"}]


def write(path, data):
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    "name, text",
    [
        ("a.csv", 'id,text,label\n7,"a; b,\tc",x\n\n8,d,\n'),
        ("a.csv", '\n"id";text;label\n7;"a; b,\tc";x\n8;d;\n'),
        ("a.csv", 'id\ttext\tlabel\r\n7\t"a; b,\tc"\tx\r\n8\td\t\r\n'),
        ("a.tsv", 'id\ttext\tlabel\n7\t"a; b,\tc"\tx\n8\td\t\n'),
        ("a.jsonl", "\ufeff" + "\n".join(map(json.dumps, ROWS))),
    ],
)
def test_text_forms(tmp_path, name, text, packed):
    path = write(tmp_path / (name + packed), text)
    (_, first), (where, second) = read_table(
        path, ["text"], ["id"], True, ["label"]
    )
    is_json = name == "a.jsonl"
    assert first == [ROWS[0]["text"], 7 if is_json else "7", "x"]
    assert second == ["d", 8 if is_json else "8", None if is_json else ""]
    assert where.startswith(f"{path}, line ")
    number = int(where.rsplit(" ", 1)[1])
    assert "8" in text.splitlines()[number - 1]


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip(
        "pyarrow", reason="needs requirements/tables.txt"
    )
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    rows = [
        {"n": float("nan"), "text": "a", "label": 1, "words": ["b", "c"]},
        {"n": 0.5, "text": "d", "label": None, "words": None},
    ] * 300
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    found = [*read_rows(path, [["text", "text_a"], ["label"]], ["words", "no"])]
    assert [number for number, _ in found] == [*range(1, 601)]
    assert found[0][1] == {"text": "a", "label": 1, "words": ["b", "c"]}
    assert found[-1][1] == {"text": "d", "label": None, "words": None}
    assert next(read_rows(path, [["n"]]))[1] == {"n": None}
    with pytest.raises(ValueError, match="'q'"):
        next(read_rows(path, [["q"]]))
    with pytest.raises(ValueError, match="line 1, column 'label'"):
        next(read_table(path, ["label"]))
    # Spark and others may write strings as bytes, without saying what they are.
    table = pyarrow.table({"text": ["caf\u00e9".encode(), b"a\xffb"]})
    parquet.write_table(table, tmp_path / "bytes.parquet")
    found = read_table(tmp_path / "bytes.parquet", ["text"], ["text"])
    assert [cells for _, cells in found] == [["caf\u00e9"] * 2, ["ab"] * 2]
    for broken in (b"", b"a,b\n1,2\n", path.read_bytes()[:500]):
        with pytest.raises(ValueError, match="b.parquet"):
            next(read_rows(write(tmp_path / "b.parquet", broken), [["text"]]))
    with pytest.raises(FileNotFoundError):
        next(read_rows(tmp_path / "c.parquet"))


@pytest.mark.parametrize(
    "text, form", [("\n{} \n", {}), ("\n the text\n", {"text": " the text"})]
)
def test_the_first_line_tells_json_from_text(tmp_path, text, form):
    assert [*read_rows(write(tmp_path / "in", text))] == [(2, form)]
    # An ending decides by itself.
    assert [*read_rows(write(tmp_path / "a.txt", "{}\r\n"))] == [
        (1, {"text": "{}"})
    ]


def test_numbers_need_no_header(tmp_path):
    path = write(tmp_path / "a.csv", "Well; yes; no\nB\n")
    assert [cells for _, cells in read_table(path, ["1"])] == [
        ["Well; yes; no"],
        ["B"],
    ]
    path = write(tmp_path / "a.csv", "1;Well\n2;B\n")
    assert [cells for _, cells in read_table(path, ["2"])] == [["Well"], ["B"]]


HEADER = b"id,text\n"


@pytest.mark.parametrize(
    "data, culprit",
    [
        # The end of a cell is not known, so the rows after it are not either.
        (HEADER + b'1,"a\n2,b\n3,c\n', "a.csv, line 2"),
        (b"text,text\n", "'text', 'text'"),
        (b"id;review\n1;a\n", "'id', 'review'"),
        ("id,text\n1,a".encode("utf-16"), "UTF-16"),
        (gzip.compress(HEADER, mtime=0), "gzip"),
        (b"PK\3\4\x14\0\6\0\n", "Excel"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(tmp_path, data, culprit):
    path = write(tmp_path / "a.csv", data)
    for most in (None, 1 << 20):
        with pytest.raises(ValueError, match=culprit):
            list(read_rows(path, [["text"]], most=most))


def test_a_bad_row_is_an_error_of_its_own(tmp_path):
    data = HEADER + b'1,a\n2\n3,"a" b\n4,\xff\n5,b\n'
    path = write(tmp_path / "a.csv", data)
    found = dict(read_rows(path, [["text"]], most=1 << 20))
    assert found[2] == {"text": "a"} and found[6] == {"text": "b"}
    assert found[5] == {"text": "\udcff"}
    assert [type(found[n]) for n in (3, 4)] == [ValueError] * 2
    with pytest.raises(ValueError, match="line 3"):
        list(read_table(path, ["text"]))


def test_lines_have_a_limit(tmp_path):
    lines = ['{"text": "a"}', '{"text": "%s"}' % ("b" * 40), '{"text": "c"}']
    path = write(tmp_path / "a.jsonl", "\n".join(lines))
    first, second, third = (row for _, row in read_rows(path, most=16))
    assert (first, third) == ({"text": "a"}, {"text": "c"})
    assert isinstance(second, ValueError)
    path = write(tmp_path / "a.csv", "text\n" + "b" * 40)
    with pytest.raises(ValueError, match="line 2"):
        list(read_rows(path, [["text"]], most=16))


def test_a_cell_may_be_longer_than_the_limit_of_csv(tmp_path):
    text = "b " * 100_000
    path = write(tmp_path / "a.csv", f'text\n"{text}"\n')
    ((_, cells),) = read_table(path, ["text"])
    assert [*cells] == [text]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_in_json_is_no_text(tmp_path, indent):
    """Each line would be answered as a text."""
    for rows in (ROWS, ["a"]):
        path = write(tmp_path / "a.json", json.dumps(rows, indent=indent))
        found = [row for _, row in read_rows(path)]
        assert {*map(type, found)} == {ValueError}
    for text in ("[MASK] is blue.", "[ a"):
        ((_, row),) = read_rows(write(tmp_path / "a", text))
        assert row == {"text": text}


def test_packed_sets(tmp_path):
    header = "Quality\tid\tid\tone\ttwo\n"
    write(tmp_path / "train.tsv.gz", f"{header}1\t1\t2\ta b\tb c\n")
    (example,) = MrpcProcessor().read_set(tmp_path, "train")
    assert (example.text_a, example.text_b) == ("a b", "b c")
    entry = {"id": 1, "question": "Who?", "context": "Anna ran."}
    for name, content in (("a.json.gz", [entry]), ("a.jsonl.gz", entry)):
        path = write(tmp_path / name, json.dumps(content))
        (question,) = squad.read_squad_examples(path, is_training=False)
        assert question.question_text == "Who?"


def test_a_text_may_be_its_columns_name(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("word\nthe\nword\n")
    assert [cells for _, cells in tables.read_table(path, ["word"])] == [
        ["the"],
        ["word"],
    ]
