"""The class that reads the weights at a path, by the format of their files."""

import dataclasses

import pytest

from modeling import save_checkpoint
from modeling.bert import BertModel
from modeling.checkpoints.converted_checkpoint import ConvertedCheckpoint
from modeling.checkpoints.finding import (
    check_checkpoint,
    find_checkpoint,
    open_checkpoint,
    read_shapes,
)
from modeling.checkpoints.huggingface_checkpoint import HuggingFaceCheckpoint
from modeling.checkpoints.tf1_checkpoint import Tf1Checkpoint
from tests.support.models import SMALL, built
from tests.support.paths import ROOT

TESTDATA = ROOT / "tests/testdata"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The prefix of a TF1 checkpoint of an encoder."""
    prefix = tmp_path_factory.mktemp("tf1") / "bert_model.ckpt"
    save_checkpoint(built(BertModel(SMALL)), prefix)
    return prefix


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("kerashub/classifier", "kerashub"),
        ("transformers4/cls", "tf_h5"),
        ("modelgarden/v1_items", "object_based"),
    ],
)
def test_the_files_of_a_folder_choose_the_format(folder, expected):
    checkpoint = open_checkpoint(TESTDATA / "weights" / folder)
    assert isinstance(checkpoint, ConvertedCheckpoint)
    assert checkpoint.format.name == expected


def test_the_weights_of_transformers_have_a_class_of_their_own():
    checkpoint = open_checkpoint(TESTDATA / "huggingface/BertModel")
    assert isinstance(checkpoint, HuggingFaceCheckpoint)


def test_a_checkpoint_of_tf1_is_found_by_its_prefix_or_folder(prefix):
    for path in (prefix, prefix.parent):
        checkpoint = open_checkpoint(path)
        assert isinstance(checkpoint, Tf1Checkpoint)
        assert checkpoint.file == str(prefix)


def test_a_checkpoint_is_found_without_a_model(prefix):
    assert find_checkpoint(prefix.parent) == str(prefix)


def test_sizes_that_differ_from_the_configuration_are_an_error(prefix):
    config = dataclasses.replace(SMALL, vocab_size=7)
    with pytest.raises(ValueError, match="vocab_size=7"):
        check_checkpoint(prefix, config=config)


def test_the_shapes_are_those_in_the_file(prefix):
    shapes = read_shapes(find_checkpoint(prefix))
    assert shapes["bert/embeddings/word_embeddings"] == [
        SMALL.vocab_size,
        SMALL.hidden_size,
    ]


def test_a_path_without_a_checkpoint_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no checkpoint"):
        open_checkpoint(tmp_path / "missing.ckpt")
