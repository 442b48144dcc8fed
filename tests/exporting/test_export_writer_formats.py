"""Exports of other formats, run in their own runtimes."""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import exporting
import modeling
import serving
from data.probabilities import to_probabilities
from exporting import export_formats
from modeling import ops, plain_ops
from modeling.layers import all_layers
from serving import engines
from tests.support.models import create_batch
from tests.support.serving.engines import ENGINES, sums_int8_in_16_bits
from tests.support.serving.exports import (
    LABELS,
    LENGTH,
    create_model,
    create_options,
)

BATCH = create_batch([LENGTH, 7, 12], LENGTH)
FORMATS = ENGINES[:2]


def assert_same(engine, batch, expected):
    """Compares an engine's outputs with those of the model."""
    outputs = engine.run(batch)
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(outputs[name], value, 1e-5, 1e-5)


def create_classifier(num_labels=3, **options):
    """Returns a classifier of two blocks, which trims padding."""
    return create_model(
        modeling.BertClassifier,
        num_labels,
        changes={"num_hidden_layers": 2},
        trim_padding=True,
        **options,
    )


def export_classifier(
    folder, model, name, labels=LABELS, mode="classification", **more
):
    """Exports a classifier in a format, and loads it."""
    settings = {"labels": labels, "output_mode": mode}
    exporting.export(folder, model, settings, create_options(name, **more))
    return engines.load_engine(folder)


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_accepts_any_batch_of_any_length(name, tmp_path):
    engine = export_classifier(tmp_path / "model", create_classifier(), name)
    assert engine.name == name
    assert {*engine.inputs.values()} == {(None, None)}


@pytest.mark.parametrize("mode", ["classification", "multilabel", "regression"])
@pytest.mark.parametrize("name", FORMATS)
def test_any_batch_gives_what_the_model_gives(name, mode, tmp_path):
    labels = None if mode == "regression" else ["no", "yes"]
    model = create_classifier(len(labels or "1"))
    engine = export_classifier(tmp_path / "model", model, name, labels, mode)
    # Two batches and two lengths.
    for length, rows in ((LENGTH, 3), (LENGTH - 7, 1)):
        batch = {name: values[:rows, :length] for name, values in BATCH.items()}
        output = "values" if mode == "regression" else "probabilities"
        expected = to_probabilities(model(batch).numpy(), mode)
        expected = expected[:, 0] if mode == "regression" else expected
        assert_same(engine, batch, {output: expected})


@pytest.mark.parametrize("name", FORMATS)
def test_pipelines_of_transformers_find_what_they_need(name, tmp_path):
    folder = tmp_path / "model"
    export_classifier(folder, create_classifier(2), name, ["no", "yes"])
    assert (folder / "tokenizer.json").exists()
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert config["id2label"] == {"0": "no", "1": "yes"}


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_of_a_regression_names_no_labels(name, tmp_path):
    folder = tmp_path / "model"
    model = create_classifier(1)
    export_classifier(folder, model, name, labels=None, mode="regression")
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert not (folder / "labels.txt").exists()


@pytest.mark.parametrize(("fixed", "longest"), [(None, LENGTH), (16, 16)])
@pytest.mark.parametrize("name", FORMATS)
def test_an_export_states_its_length_to_transformers(
    name, fixed, longest, tmp_path
):
    folder = tmp_path / "model"
    export_classifier(folder, create_classifier(), name, fixed_length=fixed)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    assert config["model_max_length"] == longest
    assert serving.load(folder).max_seq_length == longest


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_model_trained_in_16_bits_is_exported_in_32(name, dtype, tmp_path):
    model = create_classifier(dtype=dtype)
    engine = export_classifier(tmp_path / "model", model, name)
    assert {layer.dtype_policy.name for layer in all_layers(model)} == {dtype}
    exact = create_classifier()
    exact.set_weights(model.get_weights())
    assert_same(engine, BATCH, {"probabilities": tf.nn.softmax(exact(BATCH))})


@pytest.fixture(params=FORMATS)
def in_int8(request, tmp_path):
    """(a classifier, the format of its int8 export, the export's engine)."""
    model = create_classifier()
    folder = tmp_path / "int8"
    engine = export_classifier(folder, model, request.param, quantize="int8")
    return model, request.param, engine


def test_a_file_in_int8_is_smaller(in_int8, tmp_path):
    model, name, _ = in_int8
    export_classifier(tmp_path / "float32", model, name)
    file = export_formats.FILE_OF_FORMAT[name]
    int8_size, float32_size = (
        (tmp_path / precision / file).stat().st_size
        for precision in ("int8", "float32")
    )
    assert int8_size < 0.6 * float32_size


def test_the_file_that_int8_is_converted_from_is_removed(in_int8, tmp_path):
    _, name, _ = in_int8
    file = export_formats.FILE_OF_FORMAT[name]
    names = [*(tmp_path / "int8" / file).parent.rglob(f"*{Path(file).suffix}")]
    assert len(names) == 1


def test_a_network_in_int8_computes_nearly_the_same(in_int8):
    model, name, engine = in_int8
    if name == "onnx" and sums_int8_in_16_bits():
        pytest.skip("the products of ONNX Runtime saturate on this CPU")
    result = engine.run(BATCH)["probabilities"]
    expected = tf.nn.softmax(model(BATCH))
    np.testing.assert_allclose(result, expected, rtol=0, atol=0.02)


HEADS = [
    ("BertModel", [], "left_to_right"),
    ("BertClassifier", [3], "bilstm"),
    ("BertTokenClassifier", [3], "bilstm"),
    ("BertSpanLabeler", [], "bilstm"),
    ("BertPretrainer", [], "left_to_right"),
    ("BertMultipleChoice", [], "bilstm"),
]


def expected_of(model, kind, batch):
    """Returns the outputs of a signature `ids`."""
    if kind == "BertPretrainer":
        positions = np.tile(np.arange(LENGTH), (len(batch["input_ids"]), 1))
        batch = batch | {"masked_lm_positions": positions}
    with ops.plain_versions():
        outputs = model(batch)
    if kind == "BertModel":
        names = ("sequence_output", "pooled_output")
        return {name: outputs[name] for name in names}
    if kind == "BertSpanLabeler":
        return outputs
    if kind == "BertPretrainer":
        return {
            f"{name}_probabilities": tf.nn.softmax(outputs[f"{name}_logits"])
            for name in ("masked_lm", "next_sentence")
        }
    return {"probabilities": tf.nn.softmax(outputs)}


@pytest.fixture
def check_graph(tmp_path):
    """(kind, ...): compares the ONNX graph of a model with the model."""
    onnx = pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    pytest.importorskip("onnxruntime", reason="needs requirements/onnx.txt")
    from exporting import onnx_writer

    sizes = {"num_hidden_layers": 2, "layer_norm_eps": 0.1}

    def check(kind, *args, hidden_act="gelu", **options):
        model = create_model(
            getattr(modeling, kind),
            *args,
            changes=sizes | {"hidden_act": hidden_act},
            **options,
        )
        graph = onnx_writer.create_graph(model)
        onnx.checker.check_model(graph, full_check=True)
        path = tmp_path / export_formats.FILE_OF_FORMAT["onnx"]
        path.parent.mkdir()
        path.write_bytes(graph.SerializeToString())
        batch = BATCH
        if kind == "BertMultipleChoice":
            batch = {
                name: np.stack([values, values[::-1]], 1)
                for name, values in batch.items()
            }
        expected = expected_of(model, kind, batch)
        assert_same(engines.load_engine(tmp_path), batch, expected)

    return check


@pytest.mark.parametrize("network", ["", "network"])
@pytest.mark.parametrize(("kind", "args", "option"), HEADS)
def test_the_graph_of_onnx_is_the_model(
    kind, args, option, network, check_graph
):
    """Every head, with and without an option of the network."""
    check_graph(kind, *args, **({option: True} if network else {}))


@pytest.mark.parametrize("hidden_act", plain_ops.ACTIVATIONS)
def test_onnx_has_every_activation(hidden_act, check_graph):
    check_graph("BertModel", hidden_act=hidden_act)


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_missing_package_is_named_with_its_command(
    package, tmp_path, monkeypatch
):
    pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    monkeypatch.setitem(sys.modules, package, None)
    # Another test may have imported the module.
    monkeypatch.delitem(sys.modules, "exporting.onnx_writer", raising=False)
    monkeypatch.delattr(exporting, "onnx_writer", raising=False)
    message = f"{package}: pip install .*onnx.txt"
    with pytest.raises(ImportError, match=message):
        export_classifier(
            tmp_path / "model", create_classifier(), "onnx", quantize="int8"
        )
    assert not (tmp_path / "model").exists()


def test_a_missing_module_of_this_project_is_no_missing_package(
    tmp_path, monkeypatch
):
    pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    module = "exporting.onnx_graph"
    monkeypatch.setitem(sys.modules, module, None)
    # Another test may have imported the module that imports it.
    monkeypatch.delitem(sys.modules, "exporting.onnx_writer", raising=False)
    monkeypatch.delattr(exporting, "onnx_writer", raising=False)
    with pytest.raises(ModuleNotFoundError, match=module):
        export_classifier(tmp_path / "model", create_classifier(), "onnx")


def test_a_saved_model_of_keras_is_named(tmp_path):
    folder = tmp_path / "exported"
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    model.export(folder, verbose=False)
    message = f"{folder} has no signature `ids`.*model.export"
    with pytest.raises(OSError, match=message) as error:
        serving.load(folder)
    assert "\n" not in str(error.value)


def test_an_onnx_file_of_another_program_is_named(tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    pytest.importorskip("onnxruntime", reason="needs requirements/onnx.txt")
    path = tmp_path / export_formats.FILE_OF_FORMAT["onnx"]
    path.parent.mkdir()
    inputs, outputs = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [1])
        for name in ("input_ids", "output")
    )
    node = onnx.helper.make_node("Identity", ["input_ids"], ["output"])
    graph = onnx.helper.make_graph([node], "other", [inputs], [outputs])
    onnx.save(onnx.helper.make_model(graph, ir_version=10), path)
    with pytest.raises(OSError, match="no input attention_mask"):
        serving.load(tmp_path)
