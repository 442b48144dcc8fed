"""Exports of other formats, run in their own runtimes."""

import dataclasses
import importlib.util
import json

import numpy as np
import pytest
import tensorflow as tf

import modeling
import serving
from benchmarks.contestants import runtime
from data.squad import decoding, windows
from data.text.packing_layer import PackingLayer
from data.text.tokenization import FullTokenizer
from tests import conftest, script_runner
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


MODULES = {
    "litert": "ai_edge_litert",
    "onnx": "onnxruntime",
    "openvino": "openvino",
}
FORMATS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            not importlib.util.find_spec(module),
            reason=f"needs pip install -r requirements/{name}.txt",
        ),
    )
    for name, module in MODULES.items()
]


def create(kind, **options):
    config = modeling.BertConfig.from_dict(conftest.TINY)
    model = getattr(modeling, kind)(config, seed=1, unpad=True, **options)
    model.build()
    return model


def options_of(name):
    """Returns options for inputs of any length, where the format has it."""
    length = LENGTH if name == "onnx" else None
    return ExportConfig(
        export_dir="x", export_format=name, export_seq_length=length
    )


def export(folder, model, options):
    serving_options = serving.ServingOptions(TOKENIZER, LENGTH, export=options)
    serving.export_classifier(
        folder, model, ["no", "yes", "maybe"], serving_options
    )


@pytest.mark.parametrize("name", FORMATS)
def test_any_batch_gives_what_the_model_gives(name, tmp_path):
    model = create("BertClassifier", num_labels=3)
    export(tmp_path / "model", model, options_of(name))
    # Two batches and two lengths.
    for length, rows in ((LENGTH, 3), (LENGTH - 7, 1)):
        if name == "onnx":
            length = LENGTH
        batch = {k: v[:rows, :length] for k, v in read_batch().items()}
        expected = tf.nn.softmax(model(batch))
        (found,) = runtime.LOADERS[name](tmp_path / "model")(batch)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    files = {file.name for file in (tmp_path / "model").iterdir()}
    assert files >= {
        "vocab.txt",
        "labels.txt",
        "bert_config.json",
        "config.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "bert_export.json",
    }
    # It replaces an export of ours, and nothing else.
    export(tmp_path / "model", model, options_of(name))
    (tmp_path / "model" / "mine").touch()
    with pytest.raises(ValueError, match="mine"):
        export(tmp_path / "model", model, options_of(name))


@pytest.mark.parametrize("name", FORMATS)
def test_a_fixed_length(name, tmp_path):
    model = create("BertClassifier", num_labels=3)
    options = ExportConfig(
        export_dir="x", export_format=name, export_seq_length=LENGTH
    )
    export(tmp_path / "model", model, options)
    batch = read_batch()
    (found,) = runtime.LOADERS[name](tmp_path / "model")(batch)
    expected = tf.nn.softmax(model(batch))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_other_libraries_get_the_casing(tmp_path):
    tokenizer = FullTokenizer(TOKENIZER.vocab_file, do_lower_case=False)
    serving.export_encoder(
        tmp_path / "model",
        create("BertModel"),
        serving.ServingOptions(
            tokenizer,
            export=ExportConfig(export_dir="x", export_format="litert"),
        ),
    )
    path = tmp_path / "model" / "tokenizer_config.json"
    assert json.loads(path.read_text())["do_lower_case"] is False


@pytest.mark.parametrize("name", FORMATS[:2])
def test_int8_by_the_converter_is_smaller_and_nearly_the_same(name, tmp_path):
    model = create("BertClassifier", num_labels=3)
    options = options_of(name)
    export(tmp_path / "whole", model, options)
    export(
        tmp_path / "int8", model, dataclasses.replace(options, quantize="int8")
    )
    batch = read_batch()
    (found,) = runtime.LOADERS[name](tmp_path / "int8")(batch)
    expected = tf.nn.softmax(model(batch))
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)
    whole, small = (
        max(file.stat().st_size for file in (tmp_path / which).iterdir())
        for which in ("whole", "int8")
    )
    assert small < 0.6 * whole
    assert not (tmp_path / "int8" / "float32.onnx").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_logits_of_spans(name, tmp_path):
    model = create("BertSpanLabeler")
    serving.export_span_labeler(
        tmp_path / "model",
        model,
        TOKENIZER,
        windows.WindowOptions(LENGTH, max_query_length=8, doc_stride=8),
        decoding.DecodingOptions(),
        8,
        options_of(name),
    )
    batch = read_batch()
    outputs = runtime.LOADERS[name](tmp_path / "model")(batch)
    expected = model(batch)
    real = batch["input_mask"] == 1
    errors = [
        [
            np.abs(found - np.asarray(value))[real].max()
            for value in expected.values()
        ]
        for found in outputs
    ]
    # The converters name the outputs in ways of their own.
    assert np.max(np.min(errors, axis=0)) < 1e-4
    assert np.max(np.min(errors, axis=1)) < 1e-4


@pytest.mark.parametrize(
    "changes, message",
    [
        pytest.param(
            {"export_format": "onnx"},
            "needs --export_seq_length|requirements/onnx.txt",
        ),
        ({"export_seq_length": 8}, "--export_seq_length is for the other"),
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
