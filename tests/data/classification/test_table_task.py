"""A user's own tables: formats, labels, and what is said of bad lines.

Tests column_names.py.
"""

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


def test_the_train_set_is_read_before_the_others(tmp_path):
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    for name in ("dev", "test"):
        (tmp_path / f"{name}.csv").write_text("text,label\na,x\nb,z\n")
        with pytest.raises(ValueError, match=r"unknown label 'z'.*are x, y"):
            processor(tmp_path).read(SPLITS[name])
    # Nothing is to be known of a test set without labels.
    (tmp_path / "train.csv").unlink()
    assert labels_of(tmp_path, "test.csv", "text\na\n") == [None]


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
        ("dev.csv", "text,label\na, ", "dev.csv contains no example"),
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


LISTS = [
    "['sea', 'wood']",
    '["sea", "wood"]',
    "('sea', 'wood')",
    "{'sea', 'wood'}",
    "['sea' 'wood']",
    "['sea'\n 'wood']",
    "[sea, wood]",
    "{sea,wood}",
    "sea, wood",
    "array(['sea', 'wood'], dtype=object)",
    "frozenset({'sea', 'wood'})",
    "[np.str_('sea'), np.str_('wood')]",
    ["sea", "wood"],
]


@pytest.mark.parametrize("cell", LISTS)
def test_lists_in_any_notation_are_labels(tmp_path, cell):
    rows = [{"text": "a", "label": cell}]
    found = labels_of(tmp_path, "train.jsonl", rows, **MULTILABEL)
    assert found == [["sea", "wood"]]
    if cell != "sea, wood" and cell != "{sea,wood}":
        with pytest.raises(ValueError, match="--output_mode=multilabel"):
            read(tmp_path, "train.jsonl", rows)


@pytest.mark.parametrize(
    "cell, labels",
    [
        ("[1, 5]", ["1", "5"]),
        ("[1 5]", ["1", "5"]),
        ("[1. 5.]", ["1", "5"]),
        ("(2,)", ["2"]),
        ("[np.int64(1), np.int64(5)]", ["1", "5"]),
        ("[]", []),
        ("set()", []),
        ("array([], dtype=object)", []),
        ("""["it's", 'b, c']""", ["it's", "b, c"]),
        (r"['it\'s', 'b']", ["it's", "b"]),
        (r'["caf\u00e9"]', ["café"]),
        ("[open sea, wood]", ["open sea", "wood"]),
        ("['open sea']", ["open sea"]),
        ("(other), boats (small)", ["(other)", "boats (small)"]),
        ("['Cafe\u0301', 'Café']", ["Café"]),
    ],
)
def test_elements_of_lists(tmp_path, cell, labels):
    rows = [{"text": "a", "label": cell}]
    assert labels_of(tmp_path, "train.jsonl", rows, **MULTILABEL) == [labels]


@pytest.mark.parametrize(
    "cell",
    [
        "[sea wood]",
        "[1 2 ... 9]",
        "(sea, wood)",
        "[[1, 5], [2]]",
        "{'sea': 1, 'wood': 0}",
        "boats (small, old), sea",
        "['sea', nan]",
        "['sea'; 'wood']",
        "[1, 5",
        "1, 5]",
        "['sea', 'wood'",
        "sea\nwood",
        [["sea"], ["wood"]],
        ["sea", None],
        [{"label": "sea"}],
    ],
)
def test_lists_that_cannot_be_read_are_shown(tmp_path, cell):
    rows = [{"text": "a", "label": "x"}, {"text": "b", "label": cell}]
    with pytest.raises(ValueError, match="line 2, column 'label'") as error:
        read(tmp_path, "train.jsonl", rows, **MULTILABEL)
    shown = repr(cell)[1:-1] if isinstance(cell, str) else "Received: "
    assert shown in str(error.value) or repr(cell) in str(error.value)


@pytest.mark.parametrize(
    "cells",
    [
        ["[0 1 0]", "[1 0 1]"],
        ["[0.0, 1.0]", "[1.0, 0.0]"],
        [[0, 1], [1, 0]],
        ["1,0", "0,1"],
        ["1 0 0", "0 0 1"],
        ["[0. 1.]", "[1. 1.]"],
    ],
)
def test_vectors_are_no_labels(tmp_path, cells):
    rows = [{"text": "a", "label": cell} for cell in cells]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match="not a 0 or 1 for each label"):
        processor(tmp_path, **MULTILABEL).labels()


@pytest.mark.parametrize(
    "cell", ["boats", ["boats"], "['boats']", "[boats]", '["boats"]', "{boats}"]
)
def test_a_list_of_one_label_is_the_label(tmp_path, cell):
    rows = [{"text": "a", "label": cell}, {"text": "b", "label": "(other)"}]
    labels = labels_of(tmp_path, "train.jsonl", rows)
    assert labels == ["boats", "(other)"]


def test_a_known_label_may_look_like_a_list(tmp_path):
    text = "text,label\na,[URGENT]\nb,later\n"
    options = {"labels": ["[URGENT]", "later"]}
    assert labels_of(tmp_path, "dev.csv", text, **options)[0] == "[URGENT]"


def test_rows_without_text_or_label_are_left_out(tmp_path, caplog):
    rows = [
        {"text": x, "label": y} for x, y in zip("abcdef", "xyxyxy", strict=True)
    ]
    lost = [
        {"text": None, "label": "x"},
        {"text": " ", "label": "x"},
        {"text": "\u200b\ufeff", "label": "x"},
        {"label": "x"},
        {"text": "g", "label": None},
        {"text": "h", "label": ""},
        {"text": "i", "label": []},
        {"text": "j", "label": float("nan")},
        {"text": "k"},
    ]
    every = [rows[0], *lost, *rows[1:]]
    for name in ("train.jsonl", "dev.jsonl"):
        options = {"labels": ["x", "y"]} if name == "dev.jsonl" else {}
        assert labels_of(tmp_path, name, every, **options) == [*"xyxyxy"]
        (line,) = [x for x in caplog.messages if name in x]
        assert "4 rows without text left out" in line
        assert "5 rows without a label left out" in line
        assert line.count("left out") == 2
    found = labels_of(tmp_path, "test.jsonl", every, labels=["x", "y"])
    assert found == [*"xxxxx", *[None] * 5, *"yxyxy"]


def test_empty_lists_and_numbers(tmp_path):
    text = "text,label\na,x\nb,\nc, \n"
    found = labels_of(tmp_path, "train.csv", text, **MULTILABEL)
    assert found == [["x"], [], []]
    rows = [{"text": "a", "label": x} for x in (["x"], [], "", None)]
    options = MULTILABEL | {"labels": ["x"]}
    found = labels_of(tmp_path, "dev.jsonl", rows, **options)
    assert found == [["x"], [], []]
    (tmp_path / "dev.jsonl").unlink()
    numbers = {"output_mode": "regression"}
    text = "text,label\na,1.5\nb,\nc, \n"
    assert labels_of(tmp_path, "dev.csv", text, **numbers) == [1.5]
    with pytest.raises(ValueError, match=r"line 5.*'high'"):
        read(tmp_path, "dev.csv", f"{text}d,high\n", **numbers)
    columns = {"label_column": "x,y"}
    text = "text,x,y\na,0,1\nb,,1\n"
    assert labels_of(tmp_path, "dev.csv", text, **columns) == [["y"]]


@pytest.mark.parametrize(
    "spellings",
    [
        ["Café", "Cafe\u0301"],
        ["boats", "boats\u200b", "\ufeffboats", "bo\u00adats", " boats "],
        ["old boats", "old\u00a0boats", "old  boats", "old\u3000boats"],
    ],
)
def test_spellings_that_look_the_same_are_one_label(tmp_path, spellings):
    text = "".join(f"t{i},{x}\n" for i, x in enumerate([*spellings, "inns"]))
    text = f"text,label\n{text}"
    expected = sorted([spellings[0], "inns"])
    assert labels_of_train(tmp_path, text) == expected
    for mode in ("classification", "multilabel"):
        options = {"labels": ["inns", spellings[-1]], "output_mode": mode}
        read(tmp_path, "dev.csv", text, **options)
        assert processor(None, **options).labels() == ["inns", spellings[0]]


def test_labels_that_may_be_misspelled_are_named(tmp_path, caplog):
    rare = ["biling", "bxlling", "refund 2", "cats", "Delivery"]
    labels = [*["billing", "delivery", "refund 1", "cars"] * 20, *rare]
    rows = "".join(f"t{i},{x}\n" for i, x in enumerate(labels))
    assert len(labels_of_train(tmp_path, f"text,label\n{rows}")) == 9
    (line,) = [x for x in caplog.messages if "misspelled" in x]
    assert "'biling' (1), like 'billing' (20), 'bxlling' (1), like" in line
    # `similar_labels` names those that differ in case.
    assert line.count("like") == 2


def test_only_accepted_rows_of_prodigy_are_read(tmp_path, caplog):
    rows = [
        {"text": f"t{i}", "label": "xy"[i % 2], "answer": answer}
        for i, answer in enumerate(["accept", "reject", "accept", "ignore"])
    ]
    assert labels_of(tmp_path, "train.jsonl", rows) == ["x", "x"]
    assert "2 rows left out" in caplog.text
    found = labels_of(tmp_path, "train.jsonl", rows, label_column="answer")
    assert len(found) == 4


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
