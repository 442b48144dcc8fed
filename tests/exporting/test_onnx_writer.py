"""What a file in ONNX states about its inputs and its weights."""

import pytest

import modeling
from tests.support.serving.exports import create_model

pytest.importorskip("onnx", reason="needs requirements/onnx.txt")

import onnx

from exporting import onnx_writer

HUGGING_FACE_NAMES = ["input_ids", "attention_mask", "token_type_ids"]


class MyClassifier(modeling.BertClassifier):
    """A user's own class, which may compute something else."""


def list_inputs(graph):
    """Returns (name of an input, names or numbers of its sizes) of each."""
    return [
        (
            info.name,
            [
                size.dim_param or size.dim_value
                for size in info.type.tensor_type.shape.dim
            ],
        )
        for info in graph.graph.input
    ]


@pytest.mark.parametrize(
    ("length", "size"), [(None, "sequence_length"), (16, 16)]
)
def test_inputs_have_the_names_and_sizes_of_hugging_face(length, size):
    model = create_model(modeling.BertModel)
    graph = onnx_writer.create_graph(model, length=length)
    expected = [(name, ["batch_size", size]) for name in HUGGING_FACE_NAMES]
    assert list_inputs(graph) == expected


def test_the_choices_are_an_axis_of_the_inputs():
    graph = onnx_writer.create_graph(create_model(modeling.BertMultipleChoice))
    sizes = ["batch_size", "num_choices", "sequence_length"]
    assert list_inputs(graph) == [(name, sizes) for name in HUGGING_FACE_NAMES]


def test_a_model_without_a_head_for_onnx_is_named():
    model = create_model(MyClassifier, 3)
    with pytest.raises(TypeError, match="MyClassifier has no head for ONNX"):
        onnx_writer.create_graph(model)


def test_each_weight_of_the_model_is_in_the_file():
    model = create_model(modeling.BertClassifier, 3)
    graph = onnx_writer.create_graph(model)
    names = {weight.name for weight in graph.graph.initializer}
    assert {variable.path for variable in model.weights} <= names


def test_the_file_follows_the_standard():
    graph = onnx_writer.create_graph(create_model(modeling.BertModel))
    onnx.checker.check_model(graph, full_check=True)
