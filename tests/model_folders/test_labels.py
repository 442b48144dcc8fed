"""The labels beside a model, in both formats."""

import json

import pytest

from model_folders.labels import find_order, normal_label
from model_folders.reading.preset import read_preset
from modeling import BertClassifier, BertConfig, save_huggingface, save_release
from tests.support.models import SMALL, built
from tests.support.weights.huggingface_files import (
    CONFIG,
    write_huggingface_files,
)


@pytest.mark.parametrize("save", [save_release, save_huggingface])
@pytest.mark.parametrize(
    ("labels", "culprit"),
    [
        (["no", "ye\ns"], "label 2"),
        (["", "yes"], "label 1"),
        (["no", 1], "label 2"),
        (["no", "no"], "label 2"),
        (["yes"], "Received 1"),
    ],
)
def test_labels_that_cannot_be_written_leave_no_file(
    tmp_path, labels, culprit, save
):
    model = built(BertClassifier(SMALL, 2))
    with pytest.raises(ValueError, match=culprit):
        save(model, tmp_path / "new", labels=labels)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("contents", "culprit"), [(b"no\n\xff\n", "utf-8"), (b"no\n\n", "label 2")]
)
def test_labels_that_cannot_be_read_name_their_file(
    tmp_path, contents, culprit
):
    (tmp_path / "labels.txt").write_bytes(contents)
    with pytest.raises(
        ValueError,
        match=rf"labels\.txt: .*{culprit}",
    ):
        read_preset(tmp_path)


@pytest.mark.parametrize(
    "contents", [b"no\nyes\n", b"\xef\xbb\xbfno\r\nyes\r\n"]
)
def test_labels_are_read_as_windows_writes_them_too(tmp_path, contents):
    (tmp_path / "model.ckpt.index").touch()
    (tmp_path / "labels.txt").write_bytes(contents)
    assert read_preset(tmp_path / "model.ckpt").labels == [
        "no",
        "yes",
    ]


def test_labels_are_kept_in_the_config_of_hugging_face(tmp_path):
    model = built(BertClassifier(BertConfig.from_dict(CONFIG), 2))
    save_huggingface(model, tmp_path, labels=["no", "yes"])
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["id2label"] == {"0": "no", "1": "yes"}
    assert config["label2id"] == {"no": 0, "yes": 1}
    assert read_preset(tmp_path).labels == ["no", "yes"]


def test_a_model_without_labels_has_none_in_its_config(tmp_path):
    model = built(BertClassifier(BertConfig.from_dict(CONFIG), 2))
    save_huggingface(model, tmp_path, labels=["no", "yes"])
    save_huggingface(model, tmp_path)
    assert read_preset(tmp_path / "model.safetensors").labels is None


NAMES = ["neutral", "positive", "negative"]


@pytest.fixture(params=["config.json", "model.json"])
def other_file(request, tmp_path):
    """A function that writes labels to a file beside labels.txt, by name."""

    def write(labels):
        task = {"name": "BertClassifier", "labels": labels}
        described = {"version": 1, "task": task}
        if request.param == "config.json":
            described = {"id2label": dict(enumerate(labels))}
        (tmp_path / request.param).write_text(json.dumps(described))
        return request.param

    return write


@pytest.mark.parametrize("names", [sorted(NAMES), ["a", "b", "c"]])
def test_two_files_with_other_labels_are_named(tmp_path, other_file, names):
    name = other_file(names)
    (tmp_path / "labels.txt").write_text("\n".join(NAMES) + "\n")
    with pytest.raises(ValueError, match=f"labels.txt.*{name}"):
        read_preset(tmp_path)


def test_two_files_may_state_the_same_labels(tmp_path, other_file):
    other_file(NAMES)
    (tmp_path / "labels.txt").write_text("\n".join(NAMES) + "\n")
    assert read_preset(tmp_path).labels == NAMES


@pytest.mark.parametrize(
    "id2label",
    [
        {"0": "no", "2": "yes"},
        {"0": "no", "1": ["a"]},
        {"0": "no", "1": "no"},
    ],
)
def test_labels_that_a_config_json_cannot_have_are_refused(tmp_path, id2label):
    write_huggingface_files(tmp_path, {}, id2label=id2label)
    with pytest.raises(ValueError, match=r"config\.json: `id2label`"):
        read_preset(tmp_path)


@pytest.mark.parametrize(
    ("saved", "labels", "order"),
    [
        (
            ["Cafe\u0301", "old\u00a0inn", "a\u200bb"],
            ["ab", "Café", "old inn"],
            [2, 0, 1],
        ),
        (
            ["Cafe\u0301", "old\u00a0inn", "a\u200bb"],
            ["AB", "café", "Old  inn"],
            [2, 0, 1],
        ),
        (["Café", "Cafe\u0301"], ["Cafe\u0301", "Café"], [1, 0]),
        # Flags, which differ only in marks that nobody sees.
        (
            ["\U0001f3f4\U000e0067", "\U0001f3f4\U000e0073"],
            ["\U0001f3f4\U000e0073", "\U0001f3f4\U000e0067"],
            [1, 0],
        ),
    ],
)
def test_find_order_ignores_the_spelling_of_labels(saved, labels, order):
    assert find_order(saved, [labels]) == order


@pytest.mark.parametrize(
    ("label", "normal"),
    [
        (" very  good\n", "very good"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u200bspam", "spam"),
    ],
    ids=["blanks", "accent", "invisible"],
)
def test_a_label_has_one_normal_form(label, normal):
    assert normal_label(label) == normal
