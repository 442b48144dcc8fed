"""The entries of object-based checkpoints, and the graph that lists them."""

import re

import numpy as np
import pytest
import tensorflow as tf

from model_folders.formats.object_based_folders import find_object_weights
from model_folders.formats.object_based_weights import (
    has_graph,
    open_graph_entries,
    read_casing,
    read_variables,
)
from tests.support.weights.object_checkpoints import (
    ATTENTION,
    BLOCK,
    GRAPH,
    SHAPES,
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


def test_a_weight_of_attention_is_read_without_its_axis_of_heads(
    tmp_path, values
):
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


def test_a_scope_before_googles_name_is_ignored(tmp_path, values):
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
    message = rf"lacks {BERT}/output/dense/kernel"
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


def test_a_checkpoint_with_a_graph_is_found(tmp_path, values):
    prefix = write_checkpoint(tmp_path, values)
    assert has_graph(prefix)
    assert find_object_weights(prefix) == prefix


def test_a_checkpoint_without_a_graph_is_another_format(tmp_path):
    prefix = str(tmp_path / "model.ckpt")
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=["bias"],
        shape_and_slices=[""],
        tensors=[np.ones(3, np.float32)],
    )
    assert not has_graph(prefix)
    assert find_object_weights(prefix) is None


def test_the_variables_have_the_names_of_the_graph(tmp_path):
    variables = read_variables(write_checkpoint(tmp_path, create_values()))
    assert {variable.name: variable.shape for variable in variables} == SHAPES


def test_a_checkpoint_without_the_value_of_a_variable_is_refused(tmp_path):
    prefix = write_checkpoint(tmp_path, {"do_lower_case": np.array(True)})
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=[GRAPH],
        shape_and_slices=[""],
        tensors=[tf.train.load_checkpoint(prefix).get_tensor(GRAPH)],
    )
    with pytest.raises(OSError, match=r"'do_lower_case.*' is missing"):
        read_variables(prefix)


def test_the_state_of_an_optimizer_is_left_out(tmp_path, values):
    name = "word_embeddings/embeddings"
    state = {f"{name}/m": values[name], "Adam/v/any": values[name]}
    keys = {"Adam/v/any": "optimizer/v"}
    variables = read_variables(write_checkpoint(tmp_path, values | state, keys))
    assert len(variables) == 21


@pytest.mark.parametrize("casing", [False, True])
def test_the_casing_is_a_variable(tmp_path, values, casing):
    prefix = write_checkpoint(
        tmp_path, values | {"do_lower_case": np.array(casing)}
    )
    assert read_casing(prefix) is casing


@pytest.mark.parametrize("other", [{}, {"do_lower_case": np.float32(1)}])
def test_a_checkpoint_need_not_state_its_casing(tmp_path, values, other):
    assert read_casing(write_checkpoint(tmp_path, values | other)) is None
