"""Requests of tables by the columns that a user names; answers as tables."""

import csv
import json
import threading
import types

import numpy as np
import pytest

import predict
from serving import answer_files, answers, requests
from serving.requests import Item
from serving.tasks import base
from serving.tasks.base import Row
from serving.tasks.tag import Tag
from serving.tasks.texts import Classify
from serving.tasks.words import FillMask, NextSentence


def read(path, kind, *columns):
    """Returns the requests of a file, checked."""
    task = kind(types.SimpleNamespace(settings={}))
    items = requests.read(task, [str(path)], columns=columns)
    return [requests.check(task, item) for item in items]


PAIR = {"text_a": "b", "text_b": "c"}


@pytest.mark.parametrize(
    "name, text, kind, columns, expected",
    [
        ("a.csv", "id,text\n7,b\n", Classify, [], {"id": "7", "text_a": "b"}),
        ("a.csv", "text;review;2\nx;b;c\n", Classify, ["review", "2"], PAIR),
        ("a.tsv", "c\tb\n", NextSentence, ["2", "1"], PAIR),
        (
            "a.csv",
            '\ufefftext\n"two\nlines, ""quoted"""\n',
            Classify,
            [],
            {"text_a": 'two\nlines, "quoted"'},
        ),
        ("a.csv", "words\nb c\n", Tag, [], {"words": ["b", "c"]}),
        ("a.csv", "w\nb c\n", Tag, ["w"], {"text": "b c"}),
        (
            "a.jsonl",
            '{"id": 7, "q": "b", "text": 1}',
            Classify,
            ["q"],
            {"id": 7, "text_a": "b"},
        ),
        ("a", '{"text": "b", "more": 1}', Tag, [], {"text": "b", "more": 1}),
        ("a", "b [MASK]\n", FillMask, [], {"text": "b [MASK]"}),
        ("a.txt", "b\n", Classify, [], {"text_a": "b"}),
    ],
)
def test_columns(tmp_path, name, text, kind, columns, expected):
    (tmp_path / name).write_text(text)
    (item,) = read(tmp_path / name, kind, *columns)
    assert (item.request, item.error) == (expected, None)


class Counting(Classify):
    """A task that counts the requests it checks, and computes nothing."""

    num_checked = 0

    def check(self, request):
        self.num_checked += 1
        super().check(request)

    def compute(self, requests):
        return [Row(each, [], []) for each in requests]

    def read(self, row):
        return {"label": "a", "mean": [1, 2]}


def test_a_count_checks_up_to_the_first_good_row(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}\n" + '{"text": "a"}\n' * 9)
    task = Counting(types.SimpleNamespace(settings={}))
    paths = [str(tmp_path / "a.jsonl")]
    items = [*requests.read(task, paths)]
    assert task.num_checked == 0
    assert requests.count(task, iter(items), paths) == 10
    assert task.num_checked == 2


def test_an_id_is_checked_where_it_is_written(tmp_path):
    """A thread reads a pipe, whose calls are nested less deeply."""
    ids = ["[" * depth + "]" * depth for depth in range(800, 1000)]
    lines = [f'{{"id": {each}, "text": "a"}}\n' for each in ids]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    task = Counting(types.SimpleNamespace(settings={}))
    items = requests.read(task, [str(tmp_path / "a.jsonl")])
    answerer = answers.Answerer(task)
    for batch in requests.read_batches(items, 8):
        assert len([*answerer.answer(batch)]) == len(batch)
    assert answerer.num_answers and answerer.num_errors


def test_lines_that_arrive_together_are_one_batch():
    first, all_arrived = threading.Event(), threading.Event()

    def items():
        yield Item(1, {})
        first.wait(60)
        yield from (Item(number, {}) for number in range(2, 6))
        all_arrived.set()

    batches = requests.read_batches(items(), 4)
    assert len(next(batches)) == 1
    first.set()
    all_arrived.wait(60)
    assert len(next(batches)) == 4


class Damaged:
    """A task whose model has weights that are not finite for some texts."""

    name = "classify"

    def check(self, item):
        pass

    def compute(self, items):
        return [Row(item, [], [], outputs=[item["text"]]) for item in items]

    def reply(self, row):
        return {"score": base.to_number(float(row.outputs[0]))}


@pytest.mark.parametrize("scale", [1e-12, 0.05, 3.0, 2e5, 1e12])
def test_vectors_are_rounded_as_single_numbers(scale):
    rng = np.random.default_rng(0)
    vector = (scale * rng.normal(size=384)).astype(np.float32)
    vector[:3] = 0, 10 * scale, -scale
    expected = [float(f"{number:.6g}") for number in vector.tolist()]
    assert base.to_numbers(vector) == expected
    assert base.to_numbers(vector[:5]) == expected[:5]


def test_an_answer_that_is_not_finite_is_an_error_of_its_line():
    batch = [
        Item(number, {"id": number, "text": text})
        for number, text in enumerate(["1.5", "nan", "-inf", "2"], start=1)
    ]
    answerer = answers.Answerer(Damaged())
    written = [*map(json.loads, answerer.answer(batch))]
    assert (answerer.num_answers, answerer.num_errors) == (2, 2)
    assert [answer.get("score") for answer in written] == [1.5, None, None, 2]
    for number in (2, 3):
        answer = written[number - 1]
        assert answer["id"] == answer["line"] == number
        assert "which is not a finite number" in answer["error"]


def test_batches_depend_on_the_rows_alone():
    rows = [Item(i, {"text": "a" * (i == 3) * (1 << 20)}) for i in range(9)]
    cut = [*requests.cut_batches(rows, 4)]
    assert [len(batch) for batch in cut] == [4, 4, 1]
    assert [len(batch) for batch in requests.cut_batches(rows[1:], 4)] == [
        3,
        1,
        4,
    ]
    half = ["a" * (1 << 19), None, "b"]
    rows = [Item(i, {"passages": half}) for i in range(4)]
    assert [len(batch) for batch in requests.cut_batches(rows, 4)] == [2, 2]
    for count in (1, 2, 3, 7):
        parts = [requests.cut_shard(9, (i + 1, count), 2) for i in range(count)]
        assert parts[0][0] == 0 and parts[-1][1] == 9
        assert [end for _, end in parts[:-1]] == [
            start for start, _ in parts[1:]
        ]
        assert all(start % 2 == 0 or start == 9 for start, _ in parts)


ROWS = [
    {"id": 1, "line": 4, "error": "no text"},
    {"id": "b", "label": ["x", "y"], "p": {"x": 1, "y": 0.5}, "spans": []},
    {"id": None, "label": [], "p": {"x": 0.25, "y": 1}, "spans": [[1, 2]]},
    {"id": "\ud800", "label": None, "p": {"x": 0.25, "y": 1}},
]


def write(rows, form, path):
    with path.with_suffix(".in").open("w+b") as file:
        file.write(b"the first line\n")
        file.writelines(map(answers.to_json_line, rows))
        file.seek(15)
        answer_files.write(file, form, path)


def test_answers_of_odd_types_as_tables(tmp_path):
    write(ROWS, "csv", tmp_path / "a.csv")
    header, *rows = csv.reader((tmp_path / "a.csv").open())
    assert header == ["id", "label", "p.x", "p.y", "spans", "line", "error"]
    assert rows[0] == ["1", "", "", "", "", "4", "no text"]
    assert rows[1][:5] == ["b", '["x", "y"]', "1", "0.5", "[]"]
    assert rows[3][:2] == ["\\ud800", ""]
    write([], "csv", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == ""


@pytest.mark.parametrize("group", [1, 1 << 23])
def test_answers_of_odd_types_in_parquet(tmp_path, monkeypatch, group):
    pytest.importorskip("pyarrow", reason="needs requirements/tables.txt")
    from pyarrow import parquet

    monkeypatch.setattr(answer_files, "_GROUP_BYTES", group)
    write(ROWS, "parquet", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names[-2:] == ["line", "error"]
    assert table["id"].to_pylist() == ["1", "b", None, "\\ud800"]
    assert table["p.x"].to_pylist() == [None, 1.0, 0.25, 0.25]
    assert table["spans"].to_pylist() == [None, [], [[1, 2]], None]
    assert table["label"].to_pylist() == [None, ["x", "y"], [], None]
    write([], "parquet", tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet").num_rows == 0


def test_an_array_holds_one_field_of_one_shape(tmp_path):
    rows = [{"line": 1, "error": "x"}, {"value": 2.5}, {"value": -1}]
    write(rows, "npy", tmp_path / "a.npy")
    found = np.load(tmp_path / "a.npy")
    np.testing.assert_equal(found, np.array([np.nan, 2.5, -1], np.float32))
    fields = answer_files.Fields(None, "npy")
    reply = {"pooled": [1], "mean": [1, 2], "tokens": ["a"]}
    assert fields(reply) == {"mean": [1, 2]}
    with pytest.raises(ValueError, match="'mean' is of shape .3,. in this"):
        fields({"mean": [1, 2, 3]})
    with pytest.raises(
        ValueError, match="--output_fields: choose from answer. For npy"
    ):
        answer_files.Fields(None, "npy")({"answer": "a"})


def test_a_run_that_continues_checks_what_the_earlier_one_wrote(tmp_path):
    """As if it had written all: shapes, and lines that a power cut damaged."""

    def resume(lines):
        (tmp_path / "a").write_bytes(b"".join(lines))
        task = Counting(types.SimpleNamespace(settings={}))
        answerer = answers.Answerer(
            task, select=answer_files.Fields(["mean"], "npy")
        )
        rows = [Item(i, {"text": "a"}) for i in range(4)]
        batches = requests.cut_batches(rows, 2)
        with (tmp_path / "a").open("a+b") as file:
            file.seek(0)
            answers.write_rows(file, answerer, batches, None)
        written = (tmp_path / "a").read_bytes().split(b"\n")
        assert [*map(bool, written)] == [True] * 4 + [False]
        assert answerer.num_answers + answerer.num_errors == 4
        return 4 - task.num_checked

    good = [b'{"mean": [1, 2]}\n', b'{"line": 2, "error": "x"}\n'] * 2
    zeros = b'{"mean": [1\0\0\0\0\0\0}\n'
    assert resume(good) == 4
    assert resume([*good[:3], good[3][:-1]]) == 2
    assert resume([*good[:2], zeros, good[3]]) == 2
    assert resume([good[0], b"\0" * 99, good[2]]) == 0
    with pytest.raises(ValueError, match="'mean' is of shape .3,. in this"):
        resume([*good[:2], b'{"mean": [1, 2, 3]}\n', good[3]])


def test_a_run_in_the_folder_of_its_model_can_continue(tmp_path):
    config = predict.Config(model=str(tmp_path))
    engine = types.SimpleNamespace(name="litert")
    model = types.SimpleNamespace(path=str(tmp_path), engine=engine)
    (tmp_path / "model.tflite").write_bytes(b"a")
    before = predict.describe(config, model, [], "jsonl")
    for name in ("a.jsonl.unfinished", "a.jsonl.unfinished.lock"):
        (tmp_path / name).write_bytes(b"a")
    assert predict.describe(config, model, [], "jsonl") == before
    (tmp_path / "model.tflite").write_bytes(b"ab")
    assert predict.describe(config, model, [], "jsonl") != before


@pytest.mark.parametrize("texts", [["rerank"], ["answer", "Who?", "Anna."]])
def test_a_task_in_front_of_the_texts_is_named(texts):
    with pytest.raises(ValueError, match=f"Set --task={texts[0]}"):
        predict.main(predict.Config(model="m"), texts)


@pytest.mark.parametrize("name", ["a.tsv", "a.xlsx", "a.tsv.gz"])
def test_a_form_that_cannot_be_written_is_named(name):
    config = predict.Config(model="m", output_file=name)
    with pytest.raises(ValueError, match="ends in .jsonl, .csv, .parquet"):
        predict.main(config, ["a text"])
