"""Exports of other formats, run in their own runtimes."""

import dataclasses
import importlib.util
import json

import numpy as np
import pytest
import tensorflow as tf

import modeling
import serving
from data.text.packing_layer import PackingLayer
from data.text.tokenization import FullTokenizer
from modeling import ops
from modeling.layers import all_layers
from serving import engines
from tests import conftest, models, script_runner
from training.config import ExportConfig

TOKENIZER = FullTokenizer(script_runner.SAMPLES / "vocab.txt")
TEXTS = ["the boat left at noon .", "a light .", "the sea is green and old ."]
LENGTH = 24


def read_batch(length=LENGTH):
    """Returns the ids of three texts, padded."""
    packing = PackingLayer(TOKENIZER.layer, length)
    return {
        name: value.numpy()
        for name, value in packing.pack(
            *packing.tokenize(tf.constant(TEXTS))
        ).items()
    }


FORMATS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            not importlib.util.find_spec(engines.RUNTIMES[name].package),
            reason=f"needs pip install -r requirements/{name}.txt",
        ),
    )
    for name in ("litert", "onnx", "openvino")
]
# {precision of an engine: the most by which outputs differ}
LIMITS = {"float32": 1e-5, "bfloat16": 0.05}


def assert_same(engine, batch, expected):
    """Compares an engine's outputs with those of the model."""
    outputs = engine.run(batch)
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(
            outputs[name],
            value,
            rtol=LIMITS[engine.precision],
            atol=LIMITS[engine.precision],
        )


def create(kind, **options):
    config = modeling.BertConfig.from_dict(conftest.TINY)
    model = getattr(modeling, kind)(config, seed=1, unpad=True, **options)
    model.build()
    return model


def options_of(name, **changes):
    return ExportConfig(export_dir="x", export_format=name, **changes)


def export(folder, model, options):
    serving_options = serving.ServingOptions(TOKENIZER, LENGTH, export=options)
    serving.export_classifier(
        folder, model, ["no", "yes", "maybe"], serving_options
    )


@pytest.mark.parametrize("name", FORMATS)
def test_any_batch_gives_what_the_model_gives(name, tmp_path):
    model = create("BertClassifier", num_labels=3)
    export(tmp_path / "model", model, options_of(name))
    engine = engines.open_engine(tmp_path / "model")
    assert (engine.name, {*engine.inputs.values()}) == (name, {(None, None)})
    # Two batches and two lengths.
    for length, rows in ((LENGTH, 3), (LENGTH - 7, 1)):
        batch = {k: v[:rows, :length] for k, v in read_batch().items()}
        expected = tf.nn.softmax(model(batch))
        assert_same(engine, batch, {"probabilities": expected})
    files = {file.name for file in (tmp_path / "model").iterdir()}
    assert files >= {
        "vocab.txt",
        "labels.txt",
        "bert_config.json",
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "bert_export.json",
    }
    assert "assets.extra" not in files


@pytest.mark.slow
@pytest.mark.parametrize("name", ["saved_model", *FORMATS[:1]])
def test_a_model_trained_with_gradient_checkpointing(name, tmp_path):
    model = create("BertClassifier", num_labels=3, gradient_checkpointing=True)
    export(tmp_path / "model", model, options_of(name))
    engine, batch = engines.open_engine(tmp_path / "model"), read_batch()
    outputs = engine.run({k: v.astype(np.int32) for k, v in batch.items()})
    expected = tf.nn.softmax(model(batch)).numpy()
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("name", FORMATS[:2])
def test_a_model_trained_in_16_bits_is_exported_in_32(name, dtype, tmp_path):
    model = create("BertClassifier", num_labels=3, dtype=dtype)
    export(tmp_path / "model", model, options_of(name))
    assert {layer.dtype_policy.name for layer in all_layers(model)} == {dtype}
    exact = create("BertClassifier", num_labels=3)
    exact.set_weights(model.get_weights())
    engine, batch = engines.open_engine(tmp_path / "model"), read_batch()
    assert_same(
        engine, batch, {"probabilities": tf.nn.softmax(exact(batch)).numpy()}
    )


@pytest.mark.parametrize("name", FORMATS[:2])
def test_int8_by_the_converter_is_smaller_and_nearly_the_same(name, tmp_path):
    model = create("BertClassifier", num_labels=3)
    options = options_of(name)
    export(tmp_path / "whole", model, options)
    export(
        tmp_path / "int8", model, dataclasses.replace(options, quantize="int8")
    )
    batch = read_batch()
    engine = engines.open_engine(tmp_path / "int8")
    assert engine.precision == "int8"
    found = engine.run(batch)["probabilities"]
    expected = tf.nn.softmax(model(batch))
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)
    file = engines.RUNTIMES[name].file
    whole, small = (
        (tmp_path / which / file).stat().st_size for which in ("whole", "int8")
    )
    assert small < 0.6 * whole
    # What it was converted from is gone.
    assert len([*(tmp_path / "int8" / file).parent.rglob("*.onnx")]) < 2


HEADS = [
    ("BertModel", {}, "left_to_right"),
    ("BertClassifier", {"num_labels": 3}, "bilstm"),
    ("BertTokenClassifier", {"num_labels": 3}, "bilstm"),
    ("BertSpanLabeler", {}, "bilstm"),
    ("BertPretrainer", {}, "left_to_right"),
    ("BertMultipleChoice", {}, "bilstm"),
]


def expected_of(model, kind, batch):
    """Returns the outputs of a signature `serve`."""
    if kind == "BertPretrainer":
        positions = np.tile(np.arange(LENGTH), (len(TEXTS), 1))
        batch = batch | {"masked_lm_positions": positions}
    with ops.plain():
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


@pytest.mark.parametrize("network", ["", "network"])
@pytest.mark.parametrize("kind, options, option", HEADS)
def test_the_graph_of_onnx_is_the_model(
    kind, options, option, network, tmp_path
):
    """Every head, with and without an option of the network."""
    pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    pytest.importorskip("onnxruntime", reason="needs requirements/onnx.txt")
    import onnx

    from serving.export import onnx as writer

    more = {option: True} if network else {}
    config = models.tiny_config(vocab_size=len(TOKENIZER.tokens))
    model = getattr(modeling, kind)(config, seed=1, **options, **more)
    model.build()
    graph = writer.create(model)
    onnx.checker.check_model(graph, full_check=True)
    path = tmp_path / engines.RUNTIMES["onnx"].file
    path.parent.mkdir()
    writer.save(graph, path)
    batch = read_batch()
    if kind == "BertMultipleChoice":
        batch = {k: np.stack([v, v[::-1]], 1) for k, v in batch.items()}
    expected = expected_of(model, kind, batch)
    assert_same(engines.open_engine(tmp_path), batch, expected)


@pytest.mark.parametrize("hidden_act", ops.ACTIVATIONS)
def test_onnx_has_every_activation(hidden_act, tmp_path, monkeypatch):
    pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
    pytest.importorskip("onnxruntime", reason="needs requirements/onnx.txt")
    from serving.export import onnx as writer

    config = models.tiny_config(
        vocab_size=len(TOKENIZER.tokens), hidden_act=hidden_act
    )
    model = modeling.BertModel(config, seed=1)
    model.build()
    path = tmp_path / engines.RUNTIMES["onnx"].file
    path.parent.mkdir()
    if hidden_act == "gelu":
        # As for a model of more than 2 GB.
        monkeypatch.setattr(writer, "_MAX_BYTES", 1000)
    writer.save(writer.create(model), path)
    assert path.with_name("model.onnx_data").exists() == (hidden_act == "gelu")
    batch = read_batch()
    expected = expected_of(model, "BertModel", batch)
    assert_same(engines.open_engine(tmp_path), batch, expected)


@pytest.mark.parametrize("mode", ["multilabel", "regression"])
@pytest.mark.parametrize("name", FORMATS[:2])
def test_other_outputs_of_a_classifier(name, mode, tmp_path):
    labels = None if mode == "regression" else ["no", "yes"]
    model = create("BertClassifier", num_labels=len(labels or "1"))
    serving.export_classifier(
        tmp_path / "model",
        model,
        labels,
        serving.ServingOptions(TOKENIZER, LENGTH, export=options_of(name)),
        mode,
    )
    batch = read_batch()
    logits = model(batch)
    expected = {"probabilities": tf.sigmoid(logits)}
    if mode == "regression":
        expected = {"values": logits[:, 0]}
    assert_same(engines.open_engine(tmp_path / "model"), batch, expected)
    # pipeline() of transformers takes it from here.
    config = json.loads((tmp_path / "model/config.json").read_text())
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert labels is None or config["id2label"] == {"0": "no", "1": "yes"}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"export_format": "litert,tflite"}, "'tflite' is not a format"),
        ({"export_seq_length": 8}, "--export_seq_length is not for"),
        (
            {"export_format": "openvino", "quantize": "int8"},
            "not for --export_format=openvino|requirements/openvino.txt",
        ),
    ],
)
def test_contradictions_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        ExportConfig(export_dir="x", **changes)


@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_a_missing_library_is_named(name):
    if importlib.util.find_spec(name):
        pytest.skip(f"{name} is installed")
    with pytest.raises(ValueError, match=f"requirements/{name}.txt"):
        ExportConfig(export_dir="x", export_format=name)
