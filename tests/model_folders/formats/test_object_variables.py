"""Object-based checkpoints: their variables under Google's names.

model_folders/formats/object_weights.py finds them. The tests of
modeling/checkpoints/ load checkpoints that other libraries wrote.
"""

import re

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.trackable_object_graph_pb2 import (
    TrackableObjectGraph,
)

from model_folders.formats.object_variables import (
    has_graph,
    open_graph_entries,
    read_casing,
)
from model_folders.formats.object_weights import find_object_weights

GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
ENDING = "/.ATTRIBUTES/VARIABLE_VALUE"
BLOCK = "transformer/layer_0/"
ATTENTION = f"{BLOCK}self_attention/"
# {name in Model Garden: shape} of an encoder of one block: width 4, two heads.
SHAPES = {
    "word_embeddings/embeddings": [9, 4],
    "position_embedding/embeddings": [6, 4],
    "type_embeddings/embeddings": [2, 4],
    "embeddings/layer_norm/gamma": [4],
    "embeddings/layer_norm/beta": [4],
    f"{ATTENTION}query/kernel": [4, 2, 2],
    f"{ATTENTION}query/bias": [2, 2],
    f"{ATTENTION}key/kernel": [4, 2, 2],
    f"{ATTENTION}key/bias": [2, 2],
    f"{ATTENTION}value/kernel": [4, 2, 2],
    f"{ATTENTION}value/bias": [2, 2],
    f"{ATTENTION}attention_output/kernel": [2, 2, 4],
    f"{ATTENTION}attention_output/bias": [4],
    f"{BLOCK}self_attention_layer_norm/gamma": [4],
    f"{BLOCK}self_attention_layer_norm/beta": [4],
    f"{BLOCK}intermediate/kernel": [4, 5],
    f"{BLOCK}intermediate/bias": [5],
    f"{BLOCK}output/kernel": [5, 4],
    f"{BLOCK}output/bias": [4],
    f"{BLOCK}output_layer_norm/gamma": [4],
    f"{BLOCK}output_layer_norm/beta": [4],
}
BERT = "bert/encoder/layer_0"


@pytest.fixture
def values():
    """{name: value} of the encoder, in which all numbers differ."""
    numbers = iter(np.arange(1000, dtype=np.float32))
    return {
        name: np.array(
            [next(numbers) for _ in range(np.prod(shape))], np.float32
        ).reshape(shape)
        for name, shape in SHAPES.items()
    }


@pytest.fixture
def write_checkpoint(tmp_path):
    """(values, keys) -> the prefix of a checkpoint of them.

    `keys` are {name: key}. Other variables have their name as key.
    """

    def write_checkpoint(values, keys=None):
        graph = TrackableObjectGraph()
        tensors = {}
        for name, value in values.items():
            key = (keys or {}).get(name, name) + ENDING
            tensors[key] = value
            graph.nodes.add().attributes.add(
                name="VARIABLE_VALUE", full_name=name, checkpoint_key=key
            )
        tensors[GRAPH] = graph.SerializeToString()
        prefix = str(tmp_path / "ckpt-1")
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=[*tensors],
            shape_and_slices=[""] * len(tensors),
            tensors=[*tensors.values()],
        )
        return prefix

    return write_checkpoint


def test_a_checkpoint_with_a_graph_is_found(write_checkpoint, values, tmp_path):
    prefix = write_checkpoint(values)
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


def test_weights_have_googles_names_and_shapes(write_checkpoint, values):
    entries = open_graph_entries(write_checkpoint(values))
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


def test_a_value_has_no_axis_of_heads(write_checkpoint, values):
    entries = open_graph_entries(write_checkpoint(values))
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
def test_attention_shows_the_number_of_heads(
    write_checkpoint, values, name, num_heads
):
    entries = open_graph_entries(write_checkpoint(values))
    assert entries[f"{BERT}/{name}"].num_heads == num_heads


def test_any_scope_may_precede_the_names(write_checkpoint, values):
    scoped = {f"bert_encoder/{name}": value for name, value in values.items()}
    entries = open_graph_entries(write_checkpoint(scoped))
    assert f"{BERT}/output/dense/bias" in entries


def test_the_state_of_an_optimizer_is_left_out(write_checkpoint, values):
    name = "word_embeddings/embeddings"
    state = {f"{name}/m": values[name], "Adam/v/any": values[name]}
    keys = {"Adam/v/any": "optimizer/v"}
    entries = open_graph_entries(write_checkpoint(values | state, keys))
    assert len(entries) == 21


def test_the_head_of_a_task_keeps_its_name(write_checkpoint, values):
    name = "classifier/sentence_prediction/logits/kernel"
    head = {name: np.ones([4, 3], np.float32)}
    entries = open_graph_entries(write_checkpoint(values | head))
    assert [*entries[name].shape] == [4, 3]


def test_a_missing_weight_is_named(write_checkpoint, values):
    del values[f"{BLOCK}output/kernel"]
    message = rf"lacks {BERT}/output/dense/kernel, a weight of a BERT"
    with pytest.raises(ValueError, match=message):
        open_graph_entries(write_checkpoint(values))


def test_half_of_a_pooler_is_a_missing_weight(write_checkpoint, values):
    values["pooler_transform/kernel"] = np.ones([4, 4], np.float32)
    with pytest.raises(ValueError, match="lacks bert/pooler/dense/bias"):
        open_graph_entries(write_checkpoint(values))


def test_a_weight_of_no_bert_is_named_with_its_shape(write_checkpoint, values):
    values[f"{BLOCK}relative/kernel"] = np.ones([3, 4], np.float32)
    message = f"'{BLOCK}relative/kernel' with shape [3, 4], which is no weight"
    with pytest.raises(ValueError, match=re.escape(message)):
        open_graph_entries(write_checkpoint(values))


def test_two_encoders_are_refused(write_checkpoint, values):
    name = "word_embeddings/embeddings"
    values[f"teacher/{name}"] = values[name]
    with pytest.raises(ValueError, match="contains several encoders"):
        open_graph_entries(write_checkpoint(values))


@pytest.mark.parametrize("casing", [False, True])
def test_the_casing_is_a_variable(write_checkpoint, values, casing):
    prefix = write_checkpoint(values | {"do_lower_case": np.array(casing)})
    assert read_casing(prefix) is casing


@pytest.mark.parametrize("other", [{}, {"do_lower_case": np.float32(1)}])
def test_a_checkpoint_need_not_state_its_casing(
    write_checkpoint, values, other
):
    assert read_casing(write_checkpoint(values | other)) is None
