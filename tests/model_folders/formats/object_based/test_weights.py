"""The entries of object-based checkpoints, under Google's names."""

import re

import numpy as np
import pytest

from model_folders.formats.object_based.weights import open_graph_entries
from tests.support.weights.object_checkpoints import (
    ATTENTION,
    BLOCK,
    create_values,
    write_checkpoint,
)

BERT = "bert/encoder/layer_0"


@pytest.fixture
def values():
    """{name: value} of an encoder."""
    return create_values()


def test_weights_have_googles_names_and_shapes(tmp_path, values):
    entries = open_graph_entries(write_checkpoint(tmp_path, values))
    assert len(entries) == 21
    names_and_shapes = {
        "bert/embeddings/word_embeddings": [9, 4],
        "bert/embeddings/LayerNorm/gamma": [4],
        f"{BERT}/attention/self/query/kernel": [4, 4],
        f"{BERT}/attention/self/value/bias": [4],
        f"{BERT}/attention/output/dense/kernel": [4, 4],
        f"{BERT}/attention/output/LayerNorm/beta": [4],
        f"{BERT}/intermediate/dense/kernel": [4, 5],
        f"{BERT}/output/dense/kernel": [5, 4],
    }
    for name, shape in names_and_shapes.items():
        assert [*entries[name].shape] == shape, name


def test_a_value_has_no_axis_of_heads(tmp_path, values):
    entries = open_graph_entries(write_checkpoint(tmp_path, values))
    entry = entries[f"{BERT}/attention/self/query/kernel"]
    expected = values[f"{ATTENTION}query/kernel"].reshape([4, 4])
    np.testing.assert_array_equal(entry.read(), expected)


@pytest.mark.parametrize(
    ("name", "num_heads"),
    [
        ("attention/self/query/kernel", 2),
        ("attention/self/key/bias", 2),
        ("attention/output/dense/kernel", 2),
        ("attention/output/dense/bias", None),
        ("intermediate/dense/kernel", None),
    ],
)
def test_attention_shows_the_number_of_heads(tmp_path, values, name, num_heads):
    entries = open_graph_entries(write_checkpoint(tmp_path, values))
    assert entries[f"{BERT}/{name}"].num_heads == num_heads


def test_any_scope_may_precede_the_names(tmp_path, values):
    scoped = {f"bert_encoder/{name}": value for name, value in values.items()}
    entries = open_graph_entries(write_checkpoint(tmp_path, scoped))
    assert f"{BERT}/output/dense/bias" in entries


def test_the_head_of_a_task_keeps_its_name(tmp_path, values):
    name = "classifier/sentence_prediction/logits/kernel"
    head = {name: np.ones([4, 3], np.float32)}
    entries = open_graph_entries(write_checkpoint(tmp_path, values | head))
    assert [*entries[name].shape] == [4, 3]


def test_a_missing_weight_is_named(tmp_path, values):
    del values[f"{BLOCK}output/kernel"]
    message = rf"lacks {BERT}/output/dense/kernel, a weight of a BERT"
    with pytest.raises(ValueError, match=message):
        open_graph_entries(write_checkpoint(tmp_path, values))


def test_half_of_a_pooler_is_a_missing_weight(tmp_path, values):
    values["pooler_transform/kernel"] = np.ones([4, 4], np.float32)
    with pytest.raises(ValueError, match="lacks bert/pooler/dense/bias"):
        open_graph_entries(write_checkpoint(tmp_path, values))


def test_a_weight_of_no_bert_is_named_with_its_shape(tmp_path, values):
    values[f"{BLOCK}relative/kernel"] = np.ones([3, 4], np.float32)
    message = f"'{BLOCK}relative/kernel' with shape [3, 4], which is no weight"
    with pytest.raises(ValueError, match=re.escape(message)):
        open_graph_entries(write_checkpoint(tmp_path, values))


def test_two_encoders_are_refused(tmp_path, values):
    name = "word_embeddings/embeddings"
    values[f"teacher/{name}"] = values[name]
    with pytest.raises(ValueError, match="contains several encoders"):
        open_graph_entries(write_checkpoint(tmp_path, values))
