"""JSON that is no object in each line: wrapped lists, and columns of pandas."""

import json

import pytest

from data.io.text_files import number_lines
from data.tables import json_tables
from data.tables.table_layout import TableLayout
from data.tables.tables import read_rows

TICKETS = '{"id": 1, "text": "a b"}, {"id": 2, "text": "c d"}'
ROWS = [(1, {"id": 1, "text": "a b"}), (2, {"id": 2, "text": "c d"})]


def read_json_rows(tmp_path, data, name="a.json", **layout):
    path = tmp_path / name
    path.write_text(data, encoding="utf-8")
    return [*read_rows(path, TableLayout(**layout))]


WRAPPED = {
    "alone": f'{{"tickets": [{TICKETS}]}}',
    "with the next page": f'{{"tickets": [{TICKETS}], "next_page": "http://a.b/'
    '?page=2", "count": 2}\n\n',
    "over lines": f'{{\n "count": 2,\n "tickets": [\n{TICKETS}\n]\n}}\n',
    "beside empty lists": f'{{"errors": [], "tickets": [{TICKETS}]}}\n',
    "data": f'{{"data": [{TICKETS}], "included": [{{"type": "user"}}]}}\n',
}


@pytest.mark.parametrize("data", WRAPPED.values(), ids=WRAPPED)
def test_the_only_list_of_objects_in_an_object_is_read(tmp_path, data):
    assert read_json_rows(tmp_path, data) == ROWS


def test_an_empty_list_has_no_rows(tmp_path):
    assert read_json_rows(tmp_path, '{"data": []}') == []


LINES = {
    "a list in each of two lines": '{"spans": [{"end": 1}]}\n' * 2,
    "a text": '{"comment_text_en": "It left late at noon", "e": [{"a": 1}]}\n',
    "a usual name": '{"text": "a", "spans": [{"end": 1}]}\n',
    "lists of words": '{"tokens": ["a"], "ner_tags": ["O"]}\n',
}


@pytest.mark.parametrize("data", LINES.values(), ids=LINES)
def test_an_object_that_contains_a_list_stays_a_row(tmp_path, data):
    rows = read_json_rows(tmp_path, data)
    assert len(rows) == data.count("\n")
    assert not any("end" in row for _, row in rows)


def test_an_object_with_the_column_of_a_flag_is_a_row(tmp_path):
    data = '{"satz": "a", "spans": [{"end": 1}]}\n'
    assert [*read_json_rows(tmp_path, data)[0][1]] == ["end"]
    assert [*read_json_rows(tmp_path, data, columns=("satz",))[0][1]] == [
        "satz",
        "spans",
    ]


OF_PANDAS = {
    "columns": '{"text":{"0":"a b","1":"c d"},"label":{"0":"x","1":"y"}}',
    "split": '{"columns":["text"],"index":[0,1],"data":[["a b"],["c d"]]}',
    "indented": '{\n  "text":{\n    "0":"a b"\n  }\n}',
}


@pytest.mark.parametrize("data", OF_PANDAS.values(), ids=OF_PANDAS)
def test_columns_of_pandas_are_an_error(tmp_path, data):
    with pytest.raises(ValueError, match='orient="records", lines=True'):
        read_json_rows(tmp_path, data)


def test_two_objects_of_the_only_list_are_an_error(tmp_path):
    data = f'{{\n"a": [{TICKETS}],\n"b": [{TICKETS}]}}'
    with pytest.raises(ValueError, match="an object of one such list"):
        read_json_rows(tmp_path, data)


def test_a_row_is_read_before_the_next_one_is_there():
    def wait():
        yield '{"text": "a"}\n'
        raise AssertionError

    numbered = number_lines(wait())
    kind, first = json_tables.guess_text_format(numbered, is_json=False)
    assert kind == "jsonl"
    assert [*json_tables.read_json_lines(first)] == [(1, {"text": "a"})]


INDENTED = pytest.mark.parametrize("indent", [None, 1])
ENDINGS = pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
CELLS = [{"id": 7, "text": "a; b,\tc", "label": "x"}, {"id": 8, "text": "d"}]


@INDENTED
@ENDINGS
@pytest.mark.parametrize(
    "value",
    [CELLS, {"data": CELLS}, {"version": "1", "data": CELLS}],
    ids=["list", "object", "object of more"],
)
def test_the_rows_of_a_list_in_json_are_read(tmp_path, value, indent, name):
    data = json.dumps(value, indent=indent)
    assert read_json_rows(tmp_path, data, name) == [
        (1, CELLS[0]),
        (2, CELLS[1]),
    ]


@INDENTED
@ENDINGS
def test_a_list_of_texts_in_json_is_an_error(tmp_path, indent, name):
    """Each line would be answered as a text."""
    ((_, row),) = read_json_rows(
        tmp_path, json.dumps(["a"], indent=indent), name
    )
    assert isinstance(row, ValueError)


@pytest.mark.parametrize("text", ["[MASK] is blue.", "[ a"])
def test_a_text_may_begin_with_a_bracket(tmp_path, text):
    assert read_json_rows(tmp_path, text, "a") == [(1, {"text": text})]
