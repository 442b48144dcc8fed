"""int8: products, the layers that bear it, and what is exported."""

import json
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

import modeling
import serving
from modeling import int8 as plain_int8
from modeling import ops, quantization
from modeling.accelerated import int8
from modeling.accelerated.inference import Predictor
from modeling.layers import Dense
from serving import export
from tests import conftest, script_runner
from tests.golden import ROOT
from tests.modeling.accelerated.test_fusions import operations

RNG = np.random.default_rng(0)


def kernel_of(width, outputs):
    kernel = RNG.normal(size=(width, outputs)).astype("float32")
    scale = 127.0 / np.abs(kernel).max(axis=0)
    return np.round(kernel * scale).astype("int8"), scale.astype("float32")


needs_kernels = pytest.mark.skipif(
    not int8.has_kernels(), reason="TensorFlow has no int8 kernels here"
)


@needs_kernels
def test_constants_are_those_of_their_block():
    values, scale = kernel_of(48, 40)
    kernel, scale = keras.Variable(values), keras.Variable(scale)
    bias = keras.Variable(np.zeros(40, "float32"))
    inputs = tf.ones((3, 48))

    def multiply():
        with int8.constant_weights():

            @tf.function(autograph=False)
            def graph():
                first = int8.int8_matmul(inputs, kernel, scale, bias, 1.0)
                second = int8.int8_matmul(inputs, kernel, scale, bias, 1.0)
                return first, second

            return graph()

    first, second = multiply()
    np.testing.assert_array_equal(first, second)
    kernel.assign(-values)
    for changed in multiply():
        np.testing.assert_allclose(changed, -first, atol=1e-5)


@needs_kernels
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("limit", [None, 2.0])
def test_products_equal_the_definition(constant, limit):
    kernel, scale = kernel_of(48, 40)
    bias = RNG.normal(size=40).astype("float32")
    variables = [keras.Variable(each) for each in (kernel, scale, bias)]

    @tf.function(autograph=False, reduce_retracing=True)
    def multiply(inputs):
        if not constant:
            return int8.int8_matmul(inputs, *variables, limit)
        with int8.constant_weights():
            return int8.int8_matmul(inputs, *variables, limit)

    for shape in ((3, 5, 48), (1, 48), (0, 48), (70, 48)):
        inputs = RNG.normal(size=shape).astype("float32")
        inputs.reshape(-1, 48)[:1] = 0.0
        found = multiply(inputs)
        expected = plain_int8.int8_matmul.plain(
            inputs, kernel, scale, bias, limit
        )
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
        if shape[0] == 70 and limit is None:
            exact = inputs @ (kernel / scale) + bias
            error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
            assert error < 0.02
    half = tf.cast(RNG.normal(size=(2, 48)), tf.bfloat16)
    assert multiply(half).dtype == tf.bfloat16


@pytest.mark.parametrize("limit", [None, 1.0])
def test_sums_beyond_16_bits(limit):
    """Kernels that cut them off are not used."""
    kernel = np.full((48, 40), 127, "int8")
    ones = np.ones(40, "float32")
    multiply = tf.function(plain_int8.int8_matmul, autograph=False)
    with tf.device("CPU:0"):
        found = multiply(tf.ones((3, 48)), kernel, ones, ones, limit)
    np.testing.assert_allclose(found, np.full((3, 40), 48 * 127 + 1), rtol=1e-4)


@pytest.mark.parametrize("is_right", [False, True])
def test_int8_that_is_wrong_here_is_not_served(tmp_path, monkeypatch, is_right):
    if op_def_registry.get("_QuantizedMatMul") is None:
        pytest.skip("TensorFlow has no int8 operations here")

    class Model(tf.Module):
        @tf.function(
            autograph=False,
            input_signature=[tf.TensorSpec([None, 48], tf.float32)],
        )
        def __call__(self, rows):
            return int8.int8_matmul(rows, *kernel_of(48, 40), np.zeros(40))

    tf.saved_model.save(Model(), str(tmp_path))
    monkeypatch.setattr(int8, "are_kernels_right", lambda: is_right)
    if is_right:
        assert serving.load(tmp_path).tasks == []
    else:
        with pytest.raises(OSError, match="need oneDNN and a CPU with VNNI"):
            serving.load(tmp_path)


@needs_kernels
@pytest.mark.parametrize("limit", [None, 4.0])
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("hidden_act", sorted(ops.ACTIVATIONS))
def test_an_activation_follows_in_the_same_operation(hidden_act, dtype, limit):
    layer = Dense(40, hidden_act, dtype=dtype)
    layer.build((None, 48))
    layer.quantize("int8")
    layer.input_limit = limit
    inputs = RNG.normal(size=(3, 5, 48)).astype("float32")
    inputs = tf.cast(inputs, layer.compute_dtype)

    @tf.function(autograph=False)
    def activate(inputs):
        with int8.constant_weights():
            layer.hidden_act = hidden_act
            activated = layer(inputs)
            layer.hidden_act = None
            return layer(inputs), activated

    outputs, found = activate(inputs)
    expected = ops.ACTIVATIONS[hidden_act](tf.cast(outputs, "float32"))
    assert found.shape == expected.shape and found.dtype == inputs.dtype
    np.testing.assert_allclose(
        tf.cast(found, "float32"),
        expected,
        **(
            {"atol": 1e-4}
            if dtype == "float32"
            else {"rtol": 0.02, "atol": 0.02}
        ),
    )


@pytest.mark.parametrize("limit", [None, 2.0])
def test_gradients_pass_through_the_rounding(limit):
    layer = Dense(5)
    layer.build((None, 7))
    layer.quantize("int8")
    layer.input_limit = limit
    inputs = tf.constant(RNG.normal(size=(2, 3, 7)), tf.float32)
    upstream = tf.constant(RNG.normal(size=(2, 3, 5)), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = layer(inputs)
    bias = layer.bias.value
    of_inputs, of_bias = tape.gradient(outputs, [inputs, bias], upstream)
    kernel = np.asarray(layer._kernel) / np.asarray(layer.kernel_scale)
    np.testing.assert_allclose(of_inputs, upstream @ kernel.T, atol=1e-6)
    np.testing.assert_allclose(
        of_bias, np.sum(upstream, axis=(0, 1)), atol=1e-6
    )


def create_classifier(**options):
    config = modeling.BertConfig.from_dict(
        conftest.TINY | {"hidden_size": 128, "initializer_range": 0.1}
    )
    model = modeling.BertClassifier(config, 3, seed=1, **options)
    model.build()
    return model


def create_batch(rows=6, length=24):
    mask = np.arange(length) < RNG.integers(3, length, (rows, 1))
    return {
        "input_ids": (RNG.integers(1, 1600, (rows, length)) * mask).astype(
            "int32"
        ),
        "input_mask": mask.astype("int32"),
        "segment_ids": np.zeros((rows, length), "int32"),
    }


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_a_quantized_model_predicts_nearly_the_same(static, dtype):
    model, batch = create_classifier(unpad=True, dtype=dtype), create_batch()
    exact = np.asarray(model(batch, training=False), "float32")
    report = quantization.quantize(model, [batch], static)
    assert len(report.quantized) == 12 and not report.kept
    assert "12 of 12 dense layers" in str(report)
    assert "bert/encoder/layer_0/attention/self/query" in report.quantized
    limits = {layer.input_limit for layer in quantization._dense_layers(model)}
    assert (limits == {None}) == (not static)
    predictor = Predictor(model)
    graph = tf.function(predictor, autograph=False)
    ran = operations(graph, batch, predictor.cast_kernels())
    found = graph(batch, predictor.cast_kernels())
    size = np.linalg.norm(exact - exact.mean(0))
    assert np.linalg.norm(found - exact) < 0.1 * size
    with ops.plain():
        plain = np.asarray(model(batch, training=False), "float32")
    assert np.linalg.norm(found - plain) < 0.1 * size
    if int8.has_kernels():
        with_gelu = 2 if static else 0
        product = "_QuantizedMatMul+BiasAdd"
        assert ran[f"{product}+Dequantize"] == 12 - with_gelu
        assert ran[f"{product}+GeluApproximate+Dequantize"] == with_gelu
    with pytest.raises(ValueError, match="quantized already"):
        quantization.quantize(model, [batch])


def set_useless_input(model, value):
    """Gives a layer one large input, with weights of 0; returns the layer."""
    block = model.bert.encoder.blocks[1]
    bias = np.zeros(64, "float32")
    kernel = np.asarray(block.output_dense.kernel).copy()
    bias[0], kernel[0] = value, 0.0
    block.intermediate.bias.assign(bias)
    block.output_dense.kernel.assign(kernel)
    return block.output_dense


def test_static_ranges_are_those_with_the_least_error(monkeypatch):
    batch, found = create_batch(), []
    for shares in ((1.0,), quantization._SHARES):
        monkeypatch.setattr(quantization, "_SHARES", shares)
        model = create_classifier()
        layer = set_useless_input(model, 20.0)
        report = quantization.quantize(model, [batch], True)
        found.append((report.quantized, layer.input_limit))
    (largest, limit), (chosen, lower_limit) = found
    assert all(chosen[name] <= largest[name] for name in largest)
    name = "bert/encoder/layer_1/output/dense"
    assert chosen[name] < 0.5 * largest[name]
    assert lower_limit == pytest.approx(0.2 * limit)


def test_a_layer_that_loses_too_much_is_kept_and_named():
    model, batch = create_classifier(), create_batch()
    # The other inputs vanish next to the large one.
    worst = set_useless_input(model, 1e4)
    report = quantization.quantize(model, [batch])
    assert list(report.kept) == ["bert/encoder/layer_1/output/dense"]
    assert "layer_1/output/dense" in str(report)
    assert worst.quantization_mode is None
    assert worst.kernel.dtype == "float32"


def test_nothing_to_measure_with_is_refused():
    with pytest.raises(ValueError, match="no inputs to measure"):
        quantization.quantize(create_classifier(), [])


@needs_kernels
def test_an_export_holds_each_kernel_once(tmp_path):
    batch, sizes = create_batch(), {}
    signature = [
        tf.TensorSpec([None, None], tf.int32, name=name)
        for name in export.INPUT_NAMES
    ]
    for name in ("float32", "int8"):
        model = create_classifier()
        if name == "int8":
            quantization.quantize(model, [batch])

        def serve(input_ids, input_mask, segment_ids):
            values = input_ids, input_mask, segment_ids
            features = dict(zip(export.INPUT_NAMES, values, strict=True))
            return {"logits": model(features, training=False)}  # noqa: B023

        export.export_saved_model(
            tmp_path / name, model, {"serve": (serve, signature)}
        )
        embeddings = model.bert.embeddings.count_params() * 4
        sizes[name] = (
            sum(
                file.stat().st_size
                for file in (tmp_path / name).rglob("*.data-*")
            )
            + (tmp_path / name / "saved_model.pb").stat().st_size
            - embeddings
        )
    loaded = tf.saved_model.load(str(tmp_path / "int8"))
    found = loaded.signatures["serve"](
        **{name: tf.constant(value) for name, value in batch.items()}
    )["logits"]
    plain = np.asarray(model(batch, training=False))
    np.testing.assert_allclose(found, plain, rtol=0, atol=0.1 * plain.std())
    kernels = 4 * 128 * 128 + 2 * 128 * 64
    # Three bytes of each weight, less what int8 has for each column. Were they
    # held twice, it would be less than two.
    assert sizes["float32"] - sizes["int8"] > 2 * kernels


@pytest.mark.slow
def test_scripts_evaluate_predict_and_export_in_int8(
    classified, model_flags, tmp_path
):
    folder, _ = classified
    shutil.copytree(folder / "run", tmp_path / "run")
    flags = {
        **model_flags,
        "task_name": "MRPC",
        "data_dir": script_runner.SAMPLES / "glue",
        "output_dir": "run",
        "max_seq_length": 32,
        "do_eval": True,
        "do_predict": True,
        "export_dir": "export",
        "quantize": "int8",
        "quantize_ranges": "static",
    }
    done = script_runner.run("run_classifier.py", tmp_path, **flags).check()
    assert "12 of 12 dense layers of the encoder compute in int8" in done.stderr
    before = json.loads((folder / "run/summary.json").read_text())
    after = json.loads((tmp_path / "run/summary.json").read_text())
    losses = [
        each["results"]["eval_results.txt"]["eval_loss"]
        for each in (before, after)
    ]
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], abs=0.02)
    inputs = {name: tf.ones((2, 8), tf.int32) for name in export.INPUT_NAMES}
    found, exact = (
        tf.saved_model.load(str(each)).signatures["serve"](**inputs)
        for each in (tmp_path / "export", folder / "export")
    )
    np.testing.assert_allclose(
        found["probabilities"], exact["probabilities"], rtol=0, atol=0.02
    )
    written = (tmp_path / "export/saved_model.pb").read_bytes()
    assert (b"GeluApproximate" in written) == int8.has_kernels()


@pytest.mark.soak
def test_without_onednn_int8_is_computed_by_plain_operations():
    code = """
import numpy as np, tensorflow as tf
from modeling.accelerated import int8
from modeling import quantization
from modeling.accelerated.inference import Predictor
from modeling.layers import Dense
from tests.modeling.accelerated import test_int8 as tests
assert not int8.has_kernels()
model, batch = tests.create_classifier(), tests.create_batch()
exact = np.asarray(model(batch))
quantization.quantize(model, [batch])
found = tf.function(Predictor(model), autograph=False)(batch)
assert np.abs(found - exact).max() < 0.1 * exact.std()
"""
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"TF_ENABLE_ONEDNN_OPTS": "0", "PATH": "/usr/bin:/bin"},
        check=True,
    )
