"""Folders laid out as Google's releases, and what they replace."""

import os
import shutil

import numpy as np
import pytest

from model_folders.reading.preset import read_preset
from modeling import (
    BertClassifier,
    load_checkpoint,
    load_config,
    save_checkpoint,
    save_huggingface,
    save_release,
)
from tests.support.models import SMALL, built
from tests.support.output_files import snapshot


def check_bias(folder):
    """Loads the model of a folder, whose bias the tests have changed."""
    model = BertClassifier(load_config(folder), 2)
    load_checkpoint(model, folder)
    np.testing.assert_array_equal(model.head.output_bias, [1.0, 2.0])


SAVES = pytest.mark.parametrize("save", [save_release, save_huggingface])


@SAVES
def test_a_model_does_not_replace_a_users_files(tmp_path, save):
    (tmp_path / "bert_config.json").write_text("theirs")
    with pytest.raises(ValueError, match=rf"{tmp_path}.* bert_config\.json"):
        save(built(BertClassifier(SMALL, 2)), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["bert_config.json"]


@pytest.fixture
def released(tmp_path):
    """(a model, the folder that it was saved to as a release)."""
    model = built(BertClassifier(SMALL, 2))
    save_release(model, tmp_path / "ours", labels=["no", "yes"])
    return model, tmp_path / "ours"


def test_a_release_has_the_files_of_googles_release(released):
    _, folder = released
    assert {path.name for path in folder.iterdir()} == {
        "bert_config.json",
        "labels.txt",
        "model.json",
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
    }


@SAVES
def test_an_error_leaves_the_earlier_model(released, save):
    model, folder = released
    before = snapshot(folder)
    with pytest.raises(ValueError, match=r"2\. Received 3"):
        save(model, folder, labels=["no", "yes", "perhaps"])
    assert snapshot(folder) == before


@SAVES
def test_a_model_replaces_an_earlier_one_and_its_labels(released, save):
    """The old labels must not name the new model's outputs."""
    model, folder = released
    model.head.output_bias.assign([1.0, 2.0])
    save(model, folder)
    assert read_preset(folder).labels in (
        None,
        ["LABEL_0", "LABEL_1"],
    )
    check_bias(folder)


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
