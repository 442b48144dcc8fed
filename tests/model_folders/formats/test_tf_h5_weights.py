"""The entries of a tf_model.h5 that transformers 4 wrote, and their names.

tests/modeling/checkpoints/test_converted_checkpoint_tf_h5.py loads them into
models.
"""

import pytest

from model_folders.formats.tf_h5_weights import (
    find_tf_h5_weights,
    open_tf_h5_entries,
    tf_h5_to_google,
)
from tests.support.paths import ROOT

RECORDED = ROOT / "tests/testdata/weights/transformers4"


def test_a_folder_or_the_file_leads_to_the_weights():
    file = str(RECORDED / "BertModel/tf_model.h5")
    assert find_tf_h5_weights(RECORDED / "BertModel") == file
    assert find_tf_h5_weights(file) == file


def test_an_index_stands_for_the_files_that_it_lists():
    index = str(RECORDED / "sharded/tf_model.h5.index.json")
    assert find_tf_h5_weights(RECORDED / "sharded") == index


def test_a_folder_of_another_library_has_no_tf_model(tmp_path):
    (tmp_path / "model.safetensors").touch()
    assert find_tf_h5_weights(tmp_path) is None


@pytest.mark.parametrize("name", ["tf_model.h5", "tf_model.h5.index.json"])
def test_an_entry_has_googles_name(name):
    folder = "sharded" if name.endswith(".json") else "BertModel"
    entries = open_tf_h5_entries(str(RECORDED / folder / name))
    assert "bert/encoder/layer_0/attention/self/query/kernel" in entries


def test_the_weights_of_a_head_are_transposed():
    """Google's code multiplies by the transpose of output_weights."""
    folder = RECORDED / "BertForSequenceClassification"
    entries = open_tf_h5_entries(str(folder / "tf_model.h5"))
    (num_labels,) = entries["output_bias"].shape
    weights = entries["output_weights"]
    assert tuple(weights.shape) == weights.read().shape
    assert weights.shape[0] == num_labels


@pytest.mark.parametrize(
    ("stored", "google"),
    [
        (
            "bert/tf_bert_model/bert/encoder/layer_._3/output/dense/kernel:0",
            "bert/encoder/layer_3/output/dense/kernel",
        ),
        (
            "bert/embeddings/word_embeddings/weight:0",
            "bert/embeddings/word_embeddings",
        ),
        (
            "bert/embeddings/token_type_embeddings/embeddings:0",
            "bert/embeddings/token_type_embeddings",
        ),
        (
            "mlm___cls/tf_bert_for_pre_training/mlm___cls/predictions/bias:0",
            "cls/predictions/output_bias",
        ),
        (
            "nsp___cls/seq_relationship/kernel:0",
            "cls/seq_relationship/output_weights",
        ),
        ("qa_outputs/model/qa_outputs/bias:0", "cls/squad/output_bias"),
        ("classifier/model/classifier/kernel:0", "output_weights"),
    ],
)
def test_a_name_becomes_googles(stored, google):
    assert tf_h5_to_google(stored) == google


@pytest.mark.parametrize(
    "stored",
    [
        "bert/encoder/layer_._3/relative/kernel:0",
        "bert/encoder/layer_._1234567/output/dense/kernel:0",
        "albert/embeddings/word_embeddings/weight:0",
        "",
    ],
)
def test_the_name_of_no_weight_of_a_bert_is_unknown(stored):
    assert tf_h5_to_google(stored) is None
