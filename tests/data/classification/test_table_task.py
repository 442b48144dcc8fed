"""A user's own tables: formats, labels, and what is said of bad lines."""

import json

import pytest

from data.classification import classifier_flags, table_task
from data.io.dev_split import DataFileOptions
from data.io.text_files import SETS

# {name of a set: its split}
SPLITS = {name: split for split, name in SETS.items()}


def processor(folder, data_file=None, **kwargs):
    data = DataFileOptions(data_file=data_file)
    options = classifier_flags.TableOptions(**kwargs)
    return table_task.TableProcessor(folder, data, options)


def read(folder, name, text, **kwargs):
    """Writes a table, and returns the contents of its examples.

    A text that is a list becomes lines of JSON.
    """
    if isinstance(text, list):
        text = "\n".join(map(json.dumps, text))
    (folder / name).write_bytes(text.encode())
    task = processor(folder, **kwargs)
    examples = task.read(SPLITS[name.partition(".")[0]])
    return [(e.guid, e.text_a, e.text_b, e.label) for e in examples]


def labels_of(folder, name, text, **kwargs):
    return [label for *_, label in read(folder, name, text, **kwargs)]


def labels_of_train(folder, text, name="train.csv", **kwargs):
    """Writes the train set, and returns the labels of the task."""
    (folder / name).write_text(text)
    return processor(folder, **kwargs).labels()


def test_csv_with_quotes_a_mark_and_dos_line_ends(tmp_path):
    text = (
        '\ufefflabel,id,text\r\nno,1,"a, ""b"""\r\n\r\n'
        'yes,2,"c\nd"\r\nno,3,café'
    )
    assert read(tmp_path, "train.csv", text) == [
        ("train-1", 'a, "b"', None, "no"),
        ("train-2", "c\nd", None, "yes"),
        ("train-3", "café", None, "no"),
    ]
    assert processor(tmp_path).labels() == ["no", "yes"]


@pytest.mark.parametrize("mode", ["classification", "multilabel"])
def test_a_label_may_be_only_in_the_dev_set_of_one_file(tmp_path, mode):
    rows = [(f"row {i}", str(i % 2)) for i in range(60)]
    rows += [(f"row {i}", f"odd{i}") for i in range(16)]
    path = tmp_path / "a.jsonl"
    lines = (json.dumps({"text": x, "label": [y]}) for x, y in rows)
    path.write_text("\n".join(lines))
    task = processor(path, data_file=str(path), output_mode=mode)
    assert task.labels() == sorted({label for _, label in rows})
    assert "odd" in str([x.label for x in task.read("eval")])


MULTILABEL = {"output_mode": "multilabel"}


@pytest.mark.parametrize(
    "name, text, options, labels",
    [
        (
            "train.csv",
            "text,label\na,x|y\nb,\nc,z\n",
            MULTILABEL | {"label_separator": "|"},
            [["x", "y"], [], ["z"]],
        ),
        (
            "train.jsonl",
            [{"text": "a", "label": ["z", "x"]}, {"text": "b", "label": []}],
            MULTILABEL,
            [["z", "x"], []],
        ),
        (
            "dev.csv",
            "text,score\na,1.5\nb,-2\n",
            {"label_column": "score", "output_mode": "regression"},
            [1.5, -2.0],
        ),
        ("test.csv", "id,text\n7,c\n", {}, [None]),
        # A spreadsheet quotes cells that contain a list or a small table.
        (
            "train.tsv",
            'text\tlabel\n"1.\tto\tgo\n2.\tto\tstay"\tyes\nc\tno\n',
            {},
            ["yes", "no"],
        ),
        # Label Studio writes one label as it is, and several as choices.
        (
            "train.csv",
            'text,label\na,"{""choices"": [""boats"", ""film""]}"\nb,film\n',
            MULTILABEL,
            [["boats", "film"], ["film"]],
        ),
        # doccano writes a list, pandas True and 1.0, JSON true and 1.
        (
            "train.jsonl",
            [{"text": "a", "label": x} for x in (["pos"], "neg", True, 1.0)],
            {},
            ["pos", "neg", "true", "1"],
        ),
        (
            "dev.csv",
            "text,label\na,True\nb,1.0\nc,1\nd,1.50\n",
            {"labels": ["True", "1", "1.50"]},
            ["true", "1", "1", "1.50"],
        ),
    ],
)
def test_labels(tmp_path, name, text, options, labels):
    assert labels_of(tmp_path, name, text, **options) == labels


def test_labels_of_a_test_set_are_kept(tmp_path):
    options = {"labels": ["w", "x"]}
    text = "label,text\nw,a\n,b\n"
    assert read(tmp_path, "test.csv", text, **options) == [
        ("test-1", "a", None, "w"),
        ("test-2", "b", None, None),
    ]
    (tmp_path / "test.csv").unlink()
    rows = [
        {"text": "a", "label": ["x"]},
        {"text": "b", "label": []},
        {"text": "c", "label": None},
        {"text": "d"},
    ]
    options["output_mode"] = "multilabel"
    assert read(tmp_path, "test.jsonl", rows, **options) == [
        ("test-1", "a", None, ["x"]),
        ("test-2", "b", None, []),
        ("test-3", "c", None, None),
        ("test-4", "d", None, None),
    ]


@pytest.mark.parametrize(
    "name, text, culprit",
    [
        (
            "dev.csv",
            "text,label\na,x\nb,q",
            "line 3, column 'label': .*'q'",
        ),
        ("dev.csv", "text,label\na, ", "line 2, column 'label'"),
        ("dev.csv", "text,label\n", "dev.csv"),
        ("dev.jsonl", '{"text": 1, "label": "x"}', "line 1, column 'text'"),
        ("dev.txt", "", "dev.csv or dev.tsv or dev.jsonl"),
    ],
)
def test_bad_tables_are_named(tmp_path, name, text, culprit):
    with pytest.raises((ValueError, OSError), match=culprit):
        read(tmp_path, name, text, labels=["x", "y"])


def test_no_column_is_both_text_and_label(tmp_path):
    for columns in ({"text_column": "label"}, {"text_b_column": "label"}):
        with pytest.raises(ValueError, match="=label"):
            processor(tmp_path, **columns)
    # A text may be its own pair, as in SimCSE.
    processor(tmp_path, text_b_column="text")


def test_names_of_columns_are_no_example(tmp_path):
    rows = "a,yes\nb,no\n" * 5
    table = f"text,label\n{rows}"
    columns = {"text_column": "1", "label_column": "2", "delimiter": ","}
    for mode in ("classification", "multilabel"):
        with pytest.raises(ValueError, match=r"line 1 .*'label'"):
            labels_of_train(tmp_path, table, output_mode=mode, **columns)
    assert labels_of_train(tmp_path, rows, **columns) == ["no", "yes"]
    # Two files, one after the other.
    with pytest.raises(ValueError, match="line 12"):
        labels_of_train(tmp_path, 2 * table)


def test_a_quote_does_not_swallow_lines(tmp_path):
    name = "train.tsv"
    header = "text\tlabel\n"
    for text in ('"a\tyes\nb"\tno\nc\tyes\n', 'x\t"yes\ny\tno\nz\tyes"\nc\tno'):
        with pytest.raises(ValueError, match="line 2"):
            read(tmp_path, name, header + text)
    text = '"a\tyes\nb"\tno\nc\tyes\n'
    first, *_ = read(tmp_path, name, header + text, quoting=False)
    assert first == ("train-1", '"a', None, "yes")


def test_labels_with_another_separator_are_warned_of(tmp_path, caplog):
    text = "text,label\na,x|y\nb,x\nc,y\nd,z\n"
    options = {"output_mode": "multilabel"}
    found = labels_of_train(tmp_path, text, label_separator="|", **options)
    assert found == ["x", "y", "z"]
    assert "--label_separator" not in caplog.text
    labels_of_train(tmp_path, text, **options)
    assert "'x|y'" in caplog.text and "--label_separator" in caplog.text


@pytest.mark.parametrize("cell", ["['x', 'y']", '[""x"", ""y""]', "[]"])
def test_lists_in_a_cell_are_no_labels(tmp_path, cell):
    text = f'text,label\na,x\nb,"{cell}"\n'
    with pytest.raises(ValueError, match="line 3"):
        read(tmp_path, "train.csv", text, output_mode="multilabel")


def test_each_label_may_have_a_column(tmp_path):
    text = "text,toxic,insult,threat\na,0,1,0\nb,1,1,0\nc,0,0,0\n"
    options = {"label_column": "toxic,insult,threat"}
    found = labels_of(tmp_path, "train.csv", text, **options)
    assert found == [["insult"], ["toxic", "insult"], []]
    task = processor(tmp_path, **options)
    assert task.labels() == ["toxic", "insult", "threat"]
    assert task.output_mode == "multilabel"
    assert labels_of(tmp_path, "test.csv", "text\na\n", **options) == [None]
    with pytest.raises(ValueError, match="line 2, column 'toxic"):
        read(tmp_path, "dev.csv", text.replace("0,1,0", "0,-1,0"), **options)


@pytest.mark.parametrize(
    "mode, label",
    [
        ("classification", "{}"),
        ("multilabel", "7"),
        ("multilabel", "[0, 1, 1]"),
        ("regression", '"nan"'),
        ("regression", '"1_000"'),
    ],
)
def test_bad_labels_are_named(tmp_path, mode, label):
    text = f'{{"text": "a", "label": {label}}}'
    with pytest.raises(ValueError, match="line 1, column 'label'"):
        read(tmp_path, "dev.jsonl", text, labels=["x", "y"], output_mode=mode)


def test_labels_that_the_train_set_does_not_tell(tmp_path):
    # As in an export of a model whose outputs have no names.
    with pytest.raises(ValueError, match="--labels"):
        processor(None).labels()
    for name, message in (
        ("train.csv", r"\['x'\]"),
        ("train.tsv", "train.csv and .*train.tsv"),
    ):
        with pytest.raises(ValueError, match=message):
            labels_of_train(tmp_path, "text,label\na,x\n", name)
