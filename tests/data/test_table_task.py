"""A user's own tables: formats, labels, and what is said of bad lines."""

import json

import pytest

from data import table_task
from tests import golden


def processor(folder, **kwargs):
    return table_task.TableProcessor(folder, **kwargs)


def contents(examples):
    return [(e.guid, e.text_a, e.text_b, e.label) for e in examples]


def test_csv_with_quotes_a_mark_and_dos_line_ends(tmp_path):
    (tmp_path / "train.csv").write_bytes(
        b'\xef\xbb\xbflabel,id,text\r\nno,1,"a, ""b"""\r\n\r\n'
        b'yes,2,"c\nd"\r\nno,3,caf\xc3\xa9'
    )
    task = processor(tmp_path)
    assert contents(task.get_train_examples(tmp_path)) == [
        ("train-1", 'a, "b"', None, "no"),
        ("train-2", "c\nd", None, "yes"),
        ("train-3", "café", None, "no"),
    ]
    assert task.get_labels() == ["no", "yes"]


def test_tsv_without_quoting_by_numbers(tmp_path):
    text = 'a\t"b\tneutral\tM\nc\td"\tno\tM\n'
    (tmp_path / "dev.tsv").write_text(text)
    task = processor(
        tmp_path,
        text_column="1",
        text_b_column="2",
        label_column="3",
        labels=["no", "neutral"],
        quoting=False,
    )
    assert contents(task.get_dev_examples(tmp_path)) == [
        ("dev-1", "a", '"b', "neutral"),
        ("dev-2", "c", 'd"', "no"),
    ]


def test_json_lines(tmp_path):
    rows = [{"q": "a", "label": 1}, {"q": "b", "label": True, "more": None}]
    text = "\ufeff" + "\n\n".join(json.dumps(row) for row in rows)
    (tmp_path / "train.jsonl").write_text(text)
    task = processor(tmp_path, text_column="q")
    assert [e.label for e in task.get_train_examples(tmp_path)] == ["1", "true"]


def test_multilabel(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x|y\nb,\nc,z\n")
    rows = [{"text": "a", "label": ["z", "x"]}, {"text": "b", "label": []}]
    (tmp_path / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "test.tsv").write_text("text\na\n")
    task = processor(tmp_path, output_mode="multilabel", label_separator="|")
    assert task.get_labels() == ["x", "y", "z"]
    labels = [e.label for e in task.get_train_examples(tmp_path)]
    assert labels == [["x", "y"], [], ["z"]]
    labels = [e.label for e in task.get_dev_examples(tmp_path)]
    assert labels == [["z", "x"], []]
    assert [e.label for e in task.get_test_examples(tmp_path)] == [[]]
    assert "f1_micro" in task.metrics


def test_regression(tmp_path):
    (tmp_path / "dev.csv").write_text("text,score\na,1.5\nb,-2\n")
    (tmp_path / "test.csv").write_text("text\na\n")
    task = processor(tmp_path, label_column="score", output_mode="regression")
    assert task.get_labels() is None
    assert [e.label for e in task.get_dev_examples(tmp_path)] == [1.5, -2.0]
    assert [e.label for e in task.get_test_examples(tmp_path)] == [0.0]


def test_test_set_needs_no_label(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,w\n")
    (tmp_path / "test.csv").write_text("id,text\n7,c\n")
    (example,) = processor(tmp_path).get_test_examples(tmp_path)
    assert (example.guid, example.text_a, example.label) == ("test-1", "c", "w")


@pytest.mark.parametrize(
    "name, text, kwargs, message",
    [
        (
            "dev.csv",
            "text,label\na,x\nb,q\n",
            {},
            "dev.csv, line 3, column 'label': unknown label 'q'",
        ),
        (
            "dev.csv",
            "text,label\n\na,x,y\n",
            {},
            "dev.csv, line 3: the line has 3 columns, where 2 are needed",
        ),
        (
            "dev.csv",
            'text,label\n"a\nb",x\n"c,x\nd,x\n',
            {},
            "dev.csv, line 4: unexpected end of data",
        ),
        (
            "dev.csv",
            "text,tag\na,x\n",
            {},
            r"dev.csv, line 1: the table must have one column 'label'; its "
            r"first line names \['text', 'tag'\]",
        ),
        (
            "dev.csv",
            "text,label\na,high\n",
            {"output_mode": "regression"},
            "line 2, column 'label': in regression .* Received: 'high'",
        ),
        *(
            (
                "dev.jsonl",
                f'{{"text": "a", "label": {label}}}',
                {"output_mode": "regression"},
                "line 1, column 'label': in regression .* finite",
            )
            for label in ('"nan"', '"-inf"', "true", "1e39", "1" + "0" * 400)
        ),
        (
            "dev.csv",
            "text,label\na,1\n",
            {"output_mode": "regression"},
            "dev.csv holds one example, and a correlation needs at least two",
        ),
        (
            "dev.tsv",
            "a\tx\n",
            {"text_column": "1", "label_column": "3"},
            "line 1: the line has 2 columns, where 3 are needed",
        ),
        ("dev.jsonl", '{"text": 1}', {}, "line 1: there is no 'label' among"),
        (
            "dev.jsonl",
            '{"text": "a", "label": "x"}\n{"text": 1, "label": "x"}',
            {},
            "line 2, column 'text': the text must be a string. Received: 1",
        ),
        (
            "dev.jsonl",
            '{"text": "a", "label": {}}',
            {},
            "column 'label': a label must be a string, not empty, or an",
        ),
        (
            "dev.csv",
            "text,label\na, \n",
            {},
            "line 2, column 'label': a label must be a string, not empty",
        ),
        (
            "dev.jsonl",
            '{"text": "a", "label": 7}',
            {"output_mode": "multilabel"},
            "column 'label': the labels must be a list or a string",
        ),
        ("dev.jsonl", "\n{text}", {}, "line 2: not JSON"),
        ("dev.jsonl", "[1]", {}, "line 1: not a JSON object"),
        ("dev.csv", "text,label\n", {}, "dev.csv holds no example"),
        ("dev.txt", "", {}, "named dev.csv or dev.tsv or dev.jsonl"),
    ],
)
def test_bad_tables_are_named(tmp_path, name, text, kwargs, message):
    (tmp_path / name).write_text(text)
    task = processor(tmp_path, labels=["x", "y"], **kwargs)
    with pytest.raises((ValueError, OSError), match=message) as error:
        task.get_dev_examples(tmp_path)
    assert "\n" not in str(error.value)


def test_one_file_a_set_and_known_modes(tmp_path):
    for name in ("train.csv", "train.tsv"):
        (tmp_path / name).write_text("text,label\na,x\n")
    with pytest.raises(ValueError, match="one train set, not .*csv and .*tsv"):
        processor(tmp_path).get_labels()
    with pytest.raises(ValueError, match="output_mode must be one of"):
        processor(tmp_path, output_mode="ranking")


def test_a_real_table_without_header(tmp_path):
    text = golden.shared("data/xnli/dev-zh.tsv").read_bytes()
    (tmp_path / "dev.tsv").write_bytes(text)
    task = processor(
        tmp_path,
        text_column="1",
        text_b_column="2",
        label_column="3",
        labels=["contradiction", "entailment", "neutral"],
        quoting=False,
    )
    rows = [line.split("\t") for line in text.decode().splitlines()]
    assert [
        [e.text_a, e.text_b, e.label] for e in task.get_dev_examples(tmp_path)
    ] == [row[:3] for row in rows]
