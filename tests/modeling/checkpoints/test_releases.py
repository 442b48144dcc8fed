"""Folders laid out as the original's releases, and what they replace."""

import os
import shutil

import numpy as np
import pytest

from data.text.tokenization import FullTokenizer
from files import manifests
from modeling import (
    BertClassifier,
    BertModel,
    load_checkpoint,
    load_config,
    load_labels,
    save_checkpoint,
    save_huggingface,
    save_release,
)
from modeling.checkpoints.tf1 import check_release
from tests.modeling.checkpoints.test_tf1 import SMALL
from tests.models import built
from tests.script_runner import snapshot


def check_bias(folder):
    """Loads the model of a folder, whose bias the tests have changed."""
    model = BertClassifier(load_config(folder), 2)
    load_checkpoint(model, folder)
    np.testing.assert_array_equal(model.head.output_bias, [1.0, 2.0])


def test_a_release_replaces_only_an_earlier_one_of_its_kind(tmp_path):
    model = built(BertClassifier(SMALL, 2))
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "bert_config.json").write_text("theirs")
    with pytest.raises(
        ValueError, match="theirs contains bert_config.json. No"
    ):
        save_release(model, theirs)
    assert [path.name for path in theirs.iterdir()] == ["bert_config.json"]
    # The old labels would name the new model's outputs.
    ours = tmp_path / "ours"
    save_release(model, ours, labels=["no", "yes"])
    before = snapshot(ours)
    model.head.output_bias.assign([1.0, 2.0])
    for save in (save_release, save_huggingface):
        with pytest.raises(
            ValueError, match="contains a model.* not replace its.* labels.txt"
        ):
            save(model, ours)
    assert snapshot(ours) == before
    save_release(model, ours, labels=["no", "yes"])
    check_bias(ours)


def test_a_release_appears_whole_or_not_at_all(tmp_path):
    model = built(BertClassifier(SMALL, 2))
    folder = tmp_path / "release"
    save_release(model, folder, labels=["no", "yes"])
    before = snapshot(folder)
    assert {path.name for path in before} == {
        "bert_config.json",
        manifests.WEIGHTS,
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
        "labels.txt",
    }
    model.head.output_bias.assign([1.0, 2.0])
    (folder / "vocab.txt").mkdir()
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("[PAD]\n")
    tokenizer = FullTokenizer(vocab_file)
    with pytest.raises(IsADirectoryError, match="vocab.txt is a folder"):
        save_release(model, folder, tokenizer, ["a", "b"])
    (folder / "vocab.txt").rmdir()
    assert snapshot(folder) == before
    save_release(model, folder, tokenizer, ["a", "b"])
    assert load_labels(folder, 2) == ["a", "b"]
    assert len(list(folder.iterdir())) == 7
    check_bias(folder)


def test_a_checkpoint_has_its_description_beside_it(tmp_path):
    model, files = built(BertClassifier(SMALL, 2)), {"model.json": "{}\n"}
    path, folder = tmp_path / "new/own.ckpt", tmp_path / "new"
    check_release(path, labels=["no", "yes"])
    for labels in (["a", "b"], ["no", "yes"]):
        save_release(model, path, labels=labels, files=files)
    assert {file.name for file in folder.iterdir()} == {
        *("bert_config.json", "labels.txt", "model.json", manifests.WEIGHTS),
        *("own.ckpt.data-00000-of-00001", "own.ckpt.index"),
    }
    assert load_labels(path) == ["no", "yes"]
    # The description would not be that of both models.
    for other in (folder, folder / "other.ckpt"):
        with pytest.raises(ValueError, match="not replace its own.ckpt"):
            check_release(other, labels=["a", "b"])
        with pytest.raises(ValueError, match="not replace its own.ckpt"):
            save_release(model, other, labels=["a", "b"], files=files)
    with pytest.raises(ValueError, match="not replace its labels.txt"):
        check_release(path)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    model = built(BertClassifier(SMALL, 2))
    folder, elsewhere = tmp_path / "release", tmp_path / "elsewhere"
    elsewhere.mkdir()
    save_release(model, folder, labels=["a", "b"])
    for name in ("labels.txt", "bert_model.ckpt.index"):
        shutil.move(folder / name, elsewhere / name)
        os.symlink(elsewhere / name, folder / name)
    save_release(model, folder, labels=["no", "yes"])
    for name in ("labels.txt", "bert_model.ckpt.index"):
        assert (folder / name).is_symlink()
    assert load_labels(elsewhere) == ["no", "yes"]
    load_checkpoint(BertClassifier(SMALL, 2), folder)


def test_saving_what_cannot_be_saved(tmp_path):
    model = BertModel(SMALL)
    with pytest.raises(ValueError, match="has no weights yet"):
        save_checkpoint(model, tmp_path / "model.ckpt")
    model.build()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="cannot be written"):
        save_checkpoint(model, tmp_path / "file" / "model.ckpt")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
