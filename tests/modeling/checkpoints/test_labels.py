"""The labels beside a model, in both formats."""

import json

import pytest

from modeling import (
    BertClassifier,
    BertConfig,
    load_labels,
    save_huggingface,
    save_labels,
    save_release,
)
from tests.modeling.checkpoints.test_huggingface import CONFIG, write
from tests.modeling.checkpoints.test_tf1 import SMALL
from tests.models import built

BAD_LABELS = [
    (["no", "ye\ns"], r"label 2, 'ye\\ns', contains a line end"),
    (["no\r", "yes"], r"label 1, 'no\\r', contains a line end"),
    (["no", "\udc00"], "half of a surrogate pair"),
    (["", "yes"], "label 1, '', is empty"),
    (["no", 1], "label 2, 1, is not a string"),
    (["no", "no"], "label 2, 'no', is label 1 too"),
]


OTHER_NUMBERS = [
    (labels, f"must name the model's 2 outputs. Received {len(labels)}")
    for labels in ([], ["yes"], ["a", "b", "c"])
]


@pytest.mark.parametrize(("labels", "message"), BAD_LABELS + OTHER_NUMBERS)
def test_labels_that_cannot_be_written_leave_no_file(tmp_path, labels, message):
    model = built(BertClassifier(SMALL, 2))
    for save in (save_release, save_huggingface):
        with pytest.raises(ValueError, match=message):
            save(model, tmp_path / "new", labels=labels)
    if (labels, message) in BAD_LABELS:
        # The number is unknown without a model.
        with pytest.raises(ValueError, match=message):
            save_labels(tmp_path, labels)
    assert not list(tmp_path.iterdir())


def test_labels_that_cannot_be_read_name_their_file(tmp_path):
    path = tmp_path / "labels.txt"
    for contents, message in (
        (b"no\ryes\r", "labels.txt: label 1, .* contains a line end"),
        (b"no\n\xff\n", "labels.txt: byte 3 is not UTF-8"),
        (b"no\n\n", "labels.txt: label 2, '', is empty"),
        (b"no\n", "labels.txt must name the model's 2 outputs"),
    ):
        path.write_bytes(contents)
        with pytest.raises(ValueError, match=message):
            load_labels(tmp_path, 2)
    # Also as Windows' editors write it.
    for contents in (b"no\nyes\n", b"\xef\xbb\xbfno\r\nyes\r\n"):
        path.write_bytes(contents)
        assert load_labels(tmp_path / "model.ckpt", 2) == ["no", "yes"]


def test_labels_of_a_config_may_be_numbers(tmp_path):
    write(tmp_path, {}, id2label={"0": 7, "1": "yes"})
    assert load_labels(tmp_path) == ["7", "yes"]


def test_labels_are_kept(tmp_path):
    model = built(BertClassifier(BertConfig.from_dict(CONFIG), 2))
    save_huggingface(model, tmp_path, labels=["no", "yes"])
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["id2label"] == {"0": "no", "1": "yes"}
    assert config["label2id"] == {"no": 0, "yes": 1}
    assert load_labels(tmp_path) == ["no", "yes"]
    save_huggingface(model, tmp_path)
    assert load_labels(tmp_path / "model.safetensors") is None


@pytest.mark.parametrize(
    ("id2label", "message"),
    [
        ({"0": "no", "2": "yes"}, 'must have the keys "0", "1", ...'),
        (5, 'must have the keys "0", "1", ...'),
        ({"0": "no"}, "must name the model's 2 outputs. Received 1"),
        ({"0": 0, "1": True}, "label 2, True, is not a string"),
        ({"0": "no", "1": ["a"]}, r"label 2, \['a'\], is not a string"),
        ({"0": "no", "1": "no"}, "label 2, 'no', is label 1 too"),
    ],
)
def test_labels_that_a_config_cannot_mean_are_refused(
    tmp_path, id2label, message
):
    write(tmp_path, {}, id2label=id2label)
    with pytest.raises(
        ValueError, match=f"config.json: `id2label`:? {message}"
    ):
        load_labels(tmp_path, 2)
