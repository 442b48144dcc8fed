"""The graph of an object-based checkpoint, and the variables in it."""

import numpy as np
import pytest
import tensorflow as tf

from model_folders.formats.object_based.folders import find_object_weights
from model_folders.formats.object_based.graph import (
    has_graph,
    read_casing,
    read_variables,
)
from tests.support.weights.object_checkpoints import (
    GRAPH,
    SHAPES,
    create_values,
    write_checkpoint,
)


@pytest.fixture
def values():
    """{name: value} of an encoder."""
    return create_values()


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
