"""The reader of tables: formats, delimiters, packed files, and broken ones.

data/tables/dialects.py finds the delimiters, data/tables/csv_records.py reads
CSV, and data/tables/parquet.py reads Parquet.
"""

import gzip
import json

import numpy as np
import pytest

from data.tables.column_keys import RepeatedName
from data.tables.table_formats import Layout, read_rows
from data.tables.tables import Table, read_table

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
        ("a.tsv", 'id\ttext\tlabel\r7\t"a; b,\tc"\tx\r8\td\t\r'),
        ("a.jsonl", "\ufeff" + "\n".join(map(json.dumps, ROWS))),
    ],
)
def test_each_form_of_text_has_the_same_rows(tmp_path, name, text, packed):
    path = write(tmp_path / (name + packed), text)
    (_, first), (where, second) = read_table(Table(path), ["text"], ["id"])
    if name == "a.jsonl":
        assert [first, second] == ROWS
    else:
        assert first == {"text": ROWS[0]["text"], "id": "7", "label": "x"}
        assert second == {"text": "d", "id": "8", "label": ""}
    assert where.startswith(f"{path}, line ")
    number = int(where.rsplit(" ", 1)[1])
    assert "8" in text.splitlines()[number - 1]


@pytest.fixture
def pyarrow():
    """The module pyarrow, with its pyarrow.parquet."""
    reason = "needs requirements/tables.txt"
    pytest.importorskip("pyarrow.parquet", reason=reason)
    return pytest.importorskip("pyarrow", reason=reason)


PARQUET_ROWS = [
    {"n": 1.5, "text": "a", "label": 1, "words": ["b", "c"]},
    {"n": 0.5, "text": "d", "label": None, "words": None},
] * 300


@pytest.fixture
def parquet_file(pyarrow, tmp_path):
    """A file of PARQUET_ROWS and a row that contains no number."""
    last = {"n": np.nan, "text": "", "label": 1, "words": []}
    table = pyarrow.Table.from_pylist([*PARQUET_ROWS, last])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_the_rows_of_a_parquet_file_have_the_types_of_python(parquet_file):
    actual = [*read_rows(parquet_file)]
    assert [number for number, _ in actual] == [*range(1, 602)]
    assert actual[0][1] == PARQUET_ROWS[0]
    last = {"n": None, "text": "", "label": 1, "words": []}
    assert actual[-1][1] == last


def test_a_large_number_of_a_parquet_file_stays_exact(pyarrow, tmp_path):
    table = pyarrow.table({"id": np.array([2**63], np.uint64)})
    pyarrow.parquet.write_table(table, tmp_path / "ids.parquet")
    assert [*read_rows(tmp_path / "ids.parquet")] == [(1, {"id": 2**63})]


@pytest.mark.parametrize(
    "column, culprit", [("q", "'q'"), ("label", "line 1, column 'label'")]
)
def test_a_column_of_a_parquet_file_must_be_text(parquet_file, column, culprit):
    with pytest.raises(ValueError, match=culprit):
        next(read_table(Table(parquet_file), [column]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"a,b\n1,2\n",
        lambda content: content[:500],
    ],
)
def test_a_damaged_parquet_file_is_named(parquet_file, tmp_path, damage):
    broken = damage(parquet_file.read_bytes())
    with pytest.raises(ValueError, match=r"b\.parquet"):
        next(read_rows(write(tmp_path / "b.parquet", broken)))


def test_a_missing_parquet_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"c\.parquet"):
        next(read_rows(tmp_path / "c.parquet"))


def test_the_first_line_tells_json_from_text(tmp_path):
    assert [*read_rows(write(tmp_path / "in", "\n{} \n"))] == [(2, {})]
    # Each line of text is a row, so that its answer has the same number.
    for name, text in (("in", "\n the text\n\n"), ("a.txt", "\r\n{}\r\n")):
        actual = [
            row["text"] for _, row in read_rows(write(tmp_path / name, text))
        ]
        assert actual == text.splitlines()


def cells(path, column, **kwargs):
    layout = Layout(**kwargs, has_header=not column.isdecimal())
    rows = read_table(Table(path, layout), [column])
    return [row[column] for _, row in rows]


@pytest.mark.parametrize("mark", ["\t", ";", "|"])
def test_the_separator_is_never_guessed(tmp_path, mark):
    """The comma of a text won in one line, and not in the next one."""
    rows = [f"Good, I like it{mark}pos", f"Bad, I left{mark}neg"]
    path = write(tmp_path / "a.csv", "\n".join(rows))
    with pytest.raises(ValueError, match="--delimiter"):
        cells(path, "1")
    delimiter = {"delimiter": "tab" if mark == "\t" else mark}
    assert cells(path, "1", **delimiter) == ["Good, I like it", "Bad, I left"]
    assert cells(path, "2", **delimiter) == ["pos", "neg"]
    write(path, "\n".join([f"text{mark}label", *rows]))
    assert cells(path, "label") == ["pos", "neg"]
    write(path, "\n".join([f"text, in full{mark}label", *rows]))
    with pytest.raises(ValueError, match="--delimiter"):
        cells(path, "label")


def test_columns_by_number_need_no_equal_rows(tmp_path):
    """STS-B of SentEval has two more columns in some rows."""
    rows = ["m\t0.5\tOne.\tTwo.", 'm\t1.0\t"A.\tB.\tsource one\tsource', "m\t2"]
    path = write(tmp_path / "a.csv", "\n".join(rows[:2]))
    options = {"delimiter": "tab", "quoting": False}
    assert cells(path, "4", **options) == ["Two.", "B."]
    write(path, "\n".join(rows))
    with pytest.raises(ValueError, match="line 3"):
        cells(path, "4", **options)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt"])
def test_latin_1_is_one_error_that_names_the_line(tmp_path, name):
    data = '{"text": "a"}\n{"text": "caf\u00e9"}\n{"text": "c"}\n'
    if name != "a.jsonl":
        data = "text\ncaf\u00e9\nc\n"
    path = write(tmp_path / name, data.encode("latin-1"))
    with pytest.raises(ValueError, match=r"line 2.*iconv"):
        cells(path, "text")
    rows = [row for _, row in read_rows(path)]
    assert rows[-1] == {"text": "c"}
    assert [*map(type, rows)].count(ValueError) == 1


def test_each_read_of_a_table_has_all_rows(tmp_path):
    path = write(tmp_path / "a.csv", "text,label\na,x\nb,y\n")
    table = Table(path)
    assert table.columns() == ["text", "label"]
    rows = [*table.read()]
    assert [number for number, _ in rows] == [2, 3]
    assert [*table.read()] == rows
    assert table.columns() == ["text", "label"]
    assert [*table.read()] == rows


@pytest.mark.parametrize("has_header", [True, False])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_name_of_a_column_may_be_1(tmp_path, name, has_header):
    path = write(tmp_path / name, "1\t2\na\tx\nb\ty\n")
    table = Table(path, Layout(has_header=has_header))
    assert table.columns() == ["1", "2"]
    assert table.names_columns() == has_header
    assert len([*table.read()]) == (2 if has_header else 3)


def test_json_does_not_name_columns_in_a_line(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"text": "a"}\n')
    assert not Table(path).names_columns()


HEADER = b"id,text\n"


@pytest.mark.parametrize(
    "data, culprit",
    [
        # The end of a cell is not known, so the rows after it are not either.
        (HEADER + b'1,"a\n2,b\n3,c\n', "a.csv, line 2"),
        (b"text,text\na,b\n", "line 2: two columns are named 'text'"),
        (b"id;texts\n1;a\n", "'id', 'texts'. Did you mean 'texts'"),
        ("文,签\n中,国\n".encode("utf-16-le"), "UTF-16"),
        (b"PK\3\4\x14\0\6\0\n", "Excel"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(tmp_path, data, culprit):
    path = write(tmp_path / "a.csv", data)
    with pytest.raises(ValueError, match=culprit):
        list(read_table(Table(path), ["text"]))


def test_a_damaged_gzip_file_is_one_error(tmp_path):
    packed = gzip.compress(HEADER, mtime=0)[:-9]
    path = write(tmp_path / "a.csv", packed)
    with pytest.raises(OSError, match=f"{path}: the gzip file is damaged"):
        list(read_table(Table(path), ["text"]))


def test_flags_count_where_rows_are_malformed(tmp_path):
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"a\tx\nb\n"c"\ty\n')
    rows = [row for _, row in read_rows(path, Layout(quoting=False))]
    assert rows[0] == {"text": '"a', "label": "x"}
    assert isinstance(rows[1], ValueError)
    assert rows[2] == {"text": '"c"', "label": "y"}


def test_a_bad_row_is_an_error_of_its_own(tmp_path):
    data = HEADER + b'1,a\n2\n3,"a" b\n4,\xff\n5,b\n'
    path = write(tmp_path / "a.csv", data)
    rows = dict(read_rows(path))
    assert [rows[number]["text"] for number in (2, 6)] == ["a", "b"]
    assert [type(rows[number]) for number in (3, 4, 5)] == [ValueError] * 3
    with pytest.raises(ValueError, match="line 3"):
        list(read_table(Table(path), ["text"]))


def test_a_cell_may_be_longer_than_the_limit_of_csv(tmp_path):
    text = "b " * 100_000
    path = write(tmp_path / "a.csv", f'text\n"{text}"\n')
    assert cells(path, "text") == [text]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
@pytest.mark.parametrize(
    "value",
    [ROWS, {"data": ROWS}, {"version": "1", "data": ROWS}],
    ids=["list", "object", "object of more"],
)
def test_the_rows_of_a_list_in_json_are_read(tmp_path, value, indent, name):
    path = write(tmp_path / name, json.dumps(value, indent=indent))
    assert [*read_rows(path)] == [*enumerate(ROWS, 1)]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
def test_a_list_of_texts_in_json_is_an_error(tmp_path, indent, name):
    """Each line would be answered as a text."""
    path = write(tmp_path / name, json.dumps(["a"], indent=indent))
    ((_, row),) = read_rows(path)
    assert isinstance(row, ValueError)


@pytest.mark.parametrize("text", ["[MASK] is blue.", "[ a"])
def test_a_text_may_begin_with_a_bracket(tmp_path, text):
    ((_, row),) = read_rows(write(tmp_path / "a", text))
    assert row == {"text": text}


def test_columns_that_nobody_reads_may_repeat(tmp_path):
    path = write(tmp_path / "a.csv", "text,Tag,Tag,Tag.1,,\na,1,2,3,4,5\n")
    ((_, row),) = read_table(Table(path), ["text"])
    keys = ["text", "Tag", "Tag.2", "Tag.1", "", ".1"]
    assert row == dict(zip(keys, ["a", *"12345"], strict=True))
    names = [key.name for key in row if isinstance(key, RepeatedName)]
    assert names == ["Tag", ""]
    with pytest.raises(ValueError, match="two columns are named 'Tag'"):
        next(read_table(Table(path), ["text"], ["Tag"]))


def test_null_is_an_empty_text(tmp_path):
    lines = ['{"text": null, "n": NaN}', '{"text": NaN, "n": -Infinity}']
    path = write(tmp_path / "a.jsonl", "\n".join(lines))
    rows = [row for _, row in read_table(Table(path), ["text"])]
    assert rows == [{"text": "", "n": None}, {"text": "", "n": -np.inf}]


def test_cells_of_parquet_that_python_lacks_are_text(pyarrow, tmp_path):
    late = pyarrow.array([2**55, None], pyarrow.timestamp("ms"))
    exact = pyarrow.array([1, None], pyarrow.timestamp("ns"))
    table = pyarrow.Table.from_arrays([late, exact, exact], [*"abb"])
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(table, path)
    (_, first), (_, second) = read_rows(path)
    assert [*first] == ["a", "b", "b.1"]
    assert str(first["b"]) == "1970-01-01 00:00:00.000000001"
    assert second == {"a": None, "b": None, "b.1": None}
