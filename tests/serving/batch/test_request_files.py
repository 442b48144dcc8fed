"""Requests from the columns that a user names, and answers as tables."""

import csv
import datetime
import decimal
import io
import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

from data.tables import tables
from data.tables.layout_options import LayoutOptions
from serving.batch import answering, request_files
from serving.batch.answers.answer_rows import AnswerRow, Status
from serving.batch.answers.csv_table import write_csv
from serving.batch.answers.jsonl import to_json_line
from serving.batch.answers.npy import write_npy
from serving.batch.request_files import Item
from serving.serving_flags import DEFAULT_TASK_FLAGS
from serving.tasks import tasks_of, text_task
from serving.tasks.classify import CLASSIFY
from serving.tasks.pretrained import FILL_MASK, NEXT_SENTENCE
from serving.tasks.tag import TAG


def read(path, task, *columns):
    """Returns the requests of a file, checked."""
    items = [*request_files.read_requests(task, [str(path)], columns=columns)]
    for item in items:
        task.texts(item.request)
    return items


PAIR = {"text_a": "b", "text_b": "c"}


@pytest.mark.parametrize(
    "name, text, task, columns, expected",
    [
        ("a.csv", "id,text\n7,b\n", CLASSIFY, [], {"id": "7", "text": "b"}),
        ("a.csv", "text;review;2\nx;b;c\n", CLASSIFY, ["review", "2"], PAIR),
        ("a.tsv", "c\tb\n", NEXT_SENTENCE, ["2", "1"], PAIR),
        (
            "a.csv",
            '\ufefftext\n"two\nlines, ""quoted"""\n',
            CLASSIFY,
            [],
            {"text": 'two\nlines, "quoted"'},
        ),
        ("a.csv", "words\nb c\n", TAG, [], {"words": ["b", "c"]}),
        ("a.csv", "w\nb c\n", TAG, ["w"], {"text": "b c"}),
        # A usual name, as in training.
        ("a.csv", "x,Body\n1,b\n", TAG, [], {"x": "1", "text": "b"}),
        (
            "a.jsonl",
            '{"id": 7, "q": "b", "text": 1}',
            CLASSIFY,
            ["q"],
            {"id": 7, "text_a": "b"},
        ),
        ("a", '{"text": "b", "more": 1}', TAG, [], {"text": "b", "more": 1}),
        ("a", "b [MASK]\n", FILL_MASK, [], {"text": "b [MASK]"}),
        ("a.txt", "b\n", CLASSIFY, [], {"text": "b"}),
    ],
)
def test_columns_are_the_fields_of_a_request(
    tmp_path, name, text, task, columns, expected
):
    (tmp_path / name).write_text(text)
    (item,) = read(tmp_path / name, task, *columns)
    assert (item.request, item.error) == (expected, None)


@pytest.mark.parametrize("kind", ["columns", "trained_columns"])
@pytest.mark.parametrize("names", [("title", "text"), ("text_b", "text_a")])
def test_columns_may_be_named_like_other_fields(tmp_path, names, kind):
    (tmp_path / "a.csv").write_text(f"{','.join(names)}\nb,c\n")
    paths = [str(tmp_path / "a.csv")]
    columns = {kind: names}
    (item,) = request_files.read_requests(CLASSIFY, paths, **columns)
    assert item.request == PAIR


def test_a_second_column_is_not_for_a_model_of_single_texts(tmp_path):
    (tmp_path / "a.csv").write_text("text,text_b\na,\na,b\n")
    task = tasks_of("BertClassifier", {"num_texts": 1})["classify"]
    paths = [str(tmp_path / "a.csv")]
    first, second = request_files.read_requests(task, paths)
    task.texts(first.request)
    with pytest.raises(ValueError, match="'text_b'"):
        task.texts(second.request)
    with pytest.raises(ValueError, match="--text_b_column=more"):
        next(request_files.read_requests(task, paths, columns=["text", "more"]))


# A task without a network, which returns the number in a text.
SCORE = text_task.TextTask(
    "score",
    lambda model, request: text_task.Encoded([], request["text"]),
    lambda model, text, *_: {"score": float(text)},
    {"text": True},
)


def create_model(run_all):
    """Returns a model for SCORE, whose engine computes with a function."""
    engine = SimpleNamespace(run_all=run_all)
    return SimpleNamespace(engine=engine, max_seq_length=8, pads=False)


def test_an_answer_that_is_not_finite_is_an_error_of_its_line():
    batch = [
        Item(number, {"text": text}, row={"id": number, "line": "a"})
        for number, text in enumerate(["1.5", "nan", "-inf", "2"], start=1)
    ]

    def run_all(inputs, *_):
        if len(inputs) > 1:
            raise ValueError("out of memory")
        return [{key: [] for key in inputs}]

    model = create_model(run_all)
    (rows,) = answering.answer_items(
        model, SCORE, DEFAULT_TASK_FLAGS, iter(batch)
    )
    written = [row.cells for row in rows]
    assert [answer.get("score") for answer in written] == [1.5, None, None, 2]
    for number in (2, 3):
        answer = written[number - 1]
        assert answer["id"] == answer["predicted_line"] == number
        assert answer["line"] == "a" and "finite" in answer["error"]


def test_texts_of_a_batch_that_failed_are_encoded_only_once(caplog):
    encoded = []
    sizes = []

    def encode(model, request):
        encoded.append(request["text"])
        return text_task.Encoded([], request["text"])

    def run_all(inputs, *_):
        sizes.append(len(inputs))
        if len(inputs) > 1 or 1 in inputs:
            raise ValueError("out of memory")
        yield {key: [] for key in inputs}

    model = create_model(run_all)
    task = text_task.TextTask("score", encode, SCORE.decode, {"text": True})
    replies = task.ask(model, [{"text": text} for text in "123"])
    assert encoded == [*"123"] and sizes == [3, 1, 1, 1]
    assert [replies[0], replies[2]] == [{"score": 1}, {"score": 3}]
    assert isinstance(replies[1].error, ValueError)
    assert caplog.text.count("out of memory") == 1


def test_an_error_of_the_code_is_not_hidden_by_a_second_run():
    runs = []

    def run_all(inputs, *_):
        runs.append(len(inputs))
        raise KeyError("masked_lm_probabilities")

    model = create_model(run_all)
    with pytest.raises(KeyError, match="masked_lm_probabilities"):
        SCORE.ask(model, [{"text": "1"}, {"text": "2"}])
    assert runs == [2]


ROWS = [
    AnswerRow({"id": 1, "line": 4, "error": "no text"}, Status.FAILED),
    AnswerRow(
        {"id": "b", "file": "c", "label": ["x", "y"], "p": {"x": 1, "y": 0.5}}
    ),
    AnswerRow(
        {"id": None, "label": [], "p": {"x": 0.25, "y": 1}, "spans": [[1, 2]]}
    ),
    AnswerRow({"id": "\ud800", "label": None, "p": {"x": 0.25, "y": 1}}),
]


def as_csv(rows):
    """Returns the text that `write_csv` writes."""
    file = io.BytesIO()
    write_csv([rows], file)
    return file.getvalue().decode()


def test_answers_of_any_type_are_cells():
    header, *rows = csv.reader(as_csv(ROWS).splitlines())
    assert ",".join(header) == "id,file,label,p.x,p.y,spans,line,error"
    assert rows[0] == ["1", "", "", "", "", "", "4", "no text"]
    assert rows[1][:6] == ["b", "c", '["x", "y"]', "1", "0.5", ""]
    assert rows[3][:2] == ["\\ud800", ""]


def test_no_rows_are_an_empty_table():
    assert as_csv([]) == ""


def test_an_answer_stands_beside_an_earlier_one():
    row = AnswerRow(tables.add_answer({"p.a": 1}, {"p": {"a": 2}}))
    assert as_csv([row]) == "p.a,predicted_p.a\n1,2\n"


COPIED = {
    "a": float("inf"),
    "b": [1.5, float("nan")],
    "c": {"d": -float("inf"), "e": [float("inf")]},
    "f": datetime.datetime(2026, 1, 2, 3),
    "g": [datetime.date(2026, 1, 2)],
    "h": decimal.Decimal("1.50"),
    "i": b"x",
    "label": "x",
}


def test_copied_columns_of_any_type_are_cells_beside_the_answer():
    text = as_csv([AnswerRow({**COPIED, "label": "y"})])
    header, row = csv.reader(text.splitlines())
    assert header == [*"ab", "c.d", "c.e", *"fghi", "label"]
    assert row == [
        "inf",
        "[1.5, null]",
        "-inf",
        "[null]",
        "2026-01-02T03:00:00",
        '["2026-01-02"]',
        "1.50",
        "b'x'",
        "y",
    ]


def test_copied_columns_of_any_type_are_values_of_json():
    assert json.loads(to_json_line(COPIED)) == {
        "a": None,
        "b": [1.5, None],
        "c": {"d": None, "e": [None]},
        "f": "2026-01-02T03:00:00",
        "g": ["2026-01-02"],
        "h": "1.50",
        "i": "b'x'",
        "label": "x",
    }


def test_a_column_that_is_nested_too_deeply_is_an_error_of_its_row():
    deep: list = []
    for _ in range(10_000):
        deep = [deep]
    rows = [{"text": "a"}, {"text": "b", "x": deep}]
    items = (
        Item(number, {"text": "1.5"}, None, "", row)
        for number, row in enumerate(rows, start=1)
    )
    model = create_model(lambda inputs, *_: [{number: [] for number in inputs}])
    (rows,) = answering.answer_items(model, SCORE, DEFAULT_TASK_FLAGS, items)
    first, second = (row.cells for row in rows)
    assert first["text"] == "a" and "error" not in first
    assert second["line"] == 2 and "nested" in second["error"]
    text = as_csv([AnswerRow({"x": deep, "label": "y"})])
    assert text == "x,label\nnested too deeply,y\n"


FAILED = AnswerRow({"line": 1, "error": "x"}, Status.FAILED)


def write_array(*answers):
    rows = [
        answer if answer is FAILED else AnswerRow(answer) for answer in answers
    ]
    source, target = os.pipe()
    with open(target, "wb") as file:
        write_npy([rows], file)
    with open(source, "rb") as file:
        return np.load(io.BytesIO(file.read()))


def test_a_row_without_an_answer_is_nan_in_an_array():
    result = write_array(FAILED, {"value": 2.5}, FAILED, {"value": -1})
    expected = np.array([np.nan, 2.5, np.nan, -1], np.float32)
    np.testing.assert_equal(result, expected)
    assert np.isnan(write_array(FAILED, FAILED)).tolist() == [True, True]


REPLY = {"pooled": [1], "mean": [1, 2], "tokens": ["a"]}


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [(REPLY, [1, 2]), ({"p": {"x": 1, "y": 0.5}}, [1, 0.5])],
)
def test_an_array_holds_the_usual_field_of_numbers(answer, numbers):
    assert write_array(answer).tolist() == [numbers]


def test_no_rows_are_an_empty_array():
    assert write_array().shape == (0,)


def test_a_field_that_changes_its_shape_is_named():
    with pytest.raises(ValueError, match=r"'mean'.*shape"):
        write_array(REPLY, {"mean": [1, 2, 3]})


def test_answers_without_numbers_ask_for_a_field():
    with pytest.raises(ValueError, match="--output_fields"):
        write_array({"answer": "a", "start": 1})


@pytest.mark.parametrize(
    "name, text",
    [
        ("A.CSV", "id,text\n0,b c\n1,d; e\n"),
        ("a.csv", "id|text\n0|b c\n1|d; e\n"),
        ("a.json", '[{"id": "0", "text": "b c"}, {"id": "1", "text": "d; e"}]'),
        ("a.json", '{"data": [{"text": "b c"},\n {"text": "d; e"}]}'),
    ],
)
def test_every_row_of_a_table_is_a_request(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    items = read(tmp_path / name, TAG)
    assert [item.request["text"] for item in items] == ["b c", "d; e"]


def test_a_table_without_names_asks_and_is_answered_completely(tmp_path):
    (tmp_path / "a.csv").write_text("The boat left\nA ship waits\nThe inn\n")
    with pytest.raises(ValueError, match="--nohas_header"):
        read(tmp_path / "a.csv", TAG)
    layout = LayoutOptions(has_header=False).layout(has_header=None)
    items = request_files.read_requests(
        TAG, [str(tmp_path / "a.csv")], layout=layout
    )
    texts = [item.request["text"] for item in items]
    assert texts == ["The boat left", "A ship waits", "The inn"]
    assert len(read(tmp_path / "a.csv", TAG, "1")) == 3


def test_the_columns_of_the_training_tell_a_header(tmp_path):
    (tmp_path / "a.csv").write_text("Nr,Kommentar\na,b c\n")
    paths = [str(tmp_path / "a.csv")]
    with pytest.raises(ValueError, match="--has_header"):
        [*request_files.read_requests(TAG, paths)]
    (item,) = request_files.read_requests(
        TAG, paths, trained_columns=["Kommentar"]
    )
    assert item.request == {"Nr": "a", "text": "b c"}
