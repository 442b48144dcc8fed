"""Folders laid out as the original's releases, and what they replace."""

import os
import shutil

import numpy as np
import pytest

from modeling import (
    BertClassifier,
    load_checkpoint,
    load_config,
    save_checkpoint,
    save_huggingface,
    save_release,
)
from modeling.folders import presets
from tests.support.models import SMALL, built
from tests.support.script_runner import snapshot


def check_bias(folder):
    """Loads the model of a folder, whose bias the tests have changed."""
    model = BertClassifier(load_config(folder), 2)
    load_checkpoint(model, folder)
    np.testing.assert_array_equal(model.head.output_bias, [1.0, 2.0])


@pytest.mark.parametrize("save", [save_release, save_huggingface])
def test_a_model_replaces_only_an_earlier_one(tmp_path, save):
    model = built(BertClassifier(SMALL, 2))
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    (theirs / "bert_config.json").write_text("theirs")
    with pytest.raises(ValueError, match=r"theirs.* bert_config\.json"):
        save(model, theirs)
    assert [path.name for path in theirs.iterdir()] == ["bert_config.json"]
    save_release(model, ours, labels=["no", "yes"])
    assert {path.name for path in ours.iterdir()} == {
        "bert_config.json",
        "labels.txt",
        "model.json",
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
    }
    before = snapshot(ours)
    with pytest.raises(ValueError, match=r"2\. Received 3"):
        save(model, ours, labels=["no", "yes", "perhaps"])
    assert snapshot(ours) == before
    # The old labels must not name the new model's outputs.
    model.head.output_bias.assign([1.0, 2.0])
    save(model, ours)
    assert presets.read(ours).labels in (None, ["LABEL_0", "LABEL_1"])
    check_bias(ours)


def test_a_checkpoint_is_written_through_links(tmp_path):
    model = built(BertClassifier(SMALL, 2))
    path = tmp_path / "model.ckpt"
    elsewhere = tmp_path / "elsewhere"
    save_checkpoint(model, path)
    shutil.move(f"{path}.index", elsewhere)
    os.symlink(elsewhere, f"{path}.index")
    model.head.output_bias.assign([1.0, 2.0])
    save_checkpoint(model, path)
    assert os.path.islink(f"{path}.index")
    read = BertClassifier(SMALL, 2)
    load_checkpoint(read, path)
    np.testing.assert_array_equal(read.head.output_bias, [1.0, 2.0])
