"""ONNX files in ONNX Runtime: names, shapes, and files of other programs.

tests/serving/engines/test_engine.py compares the replies of all engines.
"""

import numpy as np
import pytest

import modeling
from tests.support.models import create_batch
from tests.support.serving.exports import LENGTH, create_model

pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
pytest.importorskip("onnxruntime")

import onnx
from onnx import helper

from exporting import onnx_writer
from serving.engines.onnx import OnnxRuntime

BATCH = create_batch([LENGTH, 7], LENGTH)


@pytest.fixture
def load_engine(tmp_path):
    """(graph) -> the engine of its file."""

    def load(graph):
        path = tmp_path / "model.onnx"
        path.write_bytes(graph.SerializeToString())
        return OnnxRuntime(path, num_threads=1)

    return load


def test_the_outputs_have_the_names_and_values_of_the_network(load_engine):
    model = create_model(modeling.BertModel)
    outputs = load_engine(onnx_writer.create_graph(model)).run(BATCH)
    assert [*outputs] == ["sequence_output", "pooled_output"]
    np.testing.assert_allclose(
        outputs["pooled_output"],
        model(BATCH, training=False)["pooled_output"],
        rtol=1e-4,
        atol=1e-4,
    )


def test_the_engine_computes_no_logits_beside_other_outputs(load_engine):
    model = create_model(modeling.BertClassifier, 3)
    graph = onnx_writer.create_graph(model)
    assert graph.graph.output[0].name == "logits"
    assert [*load_engine(graph).run(BATCH)] == ["probabilities"]


def test_the_engine_computes_logits_if_there_is_no_other_output(load_engine):
    model = create_model(modeling.BertClassifier, 3)
    graph = onnx_writer.create_graph(model, "logits")
    assert [*load_engine(graph).run(BATCH)] == ["logits"]


@pytest.mark.parametrize("length", [None, LENGTH])
def test_the_length_of_the_inputs_is_that_of_the_file(load_engine, length):
    model = create_model(modeling.BertModel)
    engine = load_engine(onnx_writer.create_graph(model, length=length))
    assert engine.inputs == dict.fromkeys(
        ("input_ids", "input_mask", "segment_ids"), (None, length)
    )


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_only_rows_in_int8_must_be_alone(load_engine, precision):
    model = create_model(modeling.BertModel)
    engine = load_engine(onnx_writer.create_graph(model, precision=precision))
    assert engine.needs_single_rows == (precision == "int8")


def test_a_file_of_another_program_is_named_with_its_missing_input(load_engine):
    info = [
        helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["B", "T"])
        for name in ("input_ids", "token_type_ids", "sum")
    ]
    node = helper.make_node("Add", ["input_ids", "token_type_ids"], ["sum"])
    graph = helper.make_graph([node], "other", info[:2], info[2:])
    opset = helper.make_opsetid("", 20)
    model = helper.make_model(graph, ir_version=10, opset_imports=[opset])
    with pytest.raises(OSError, match=r"model\.onnx has no input attention_ma"):
        load_engine(model)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(OSError, match=r"model\.onnx cannot be loaded"):
        OnnxRuntime(tmp_path / "model.onnx")
