"""Every cell of docs/api.md about Keras's operations is what happens.

modeling/keras_export.py serves those about exports, and
modeling/metric_targets.py those about metrics.
"""

import functools
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling.layers import all_layers
from tests.support.golden import ROOT
from tests.support.kinds import (
    BATCH_SIZE,
    CONFIG,
    LENGTH,
    MODELS,
    NUM_LABELS,
    assert_close,
    create_features,
    create_inputs,
    flat,
    save_and_load,
)

KINDS = {**MODELS, "embedder": lambda **more: modeling.BertEmbedder(CONFIG)}
BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "torch"}
FORMATS = ("tf_saved_model", "litert", "torch", "onnx", "openvino")
SUFFIXES = {"litert": ".tflite", "onnx": ".onnx", "torch": ".pt2"}


def read_table():
    """Returns {operation: {backend: cell}} of the table."""
    text = (ROOT / "docs/api.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in re.findall(r"(?m)^\|.*\|$", text)
    ]
    header, _, *rows = rows
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


TABLE = read_table()


def labels_of(kind):
    """Returns the labels of a kind for its loss of `modeling`."""
    labels = create_features()["label_ids"]
    names = {"spans": ("start_positions", "end_positions")}
    if kind == "tokens":
        ids = np.tile(labels[:, None], (1, LENGTH))
        weights = np.ones((BATCH_SIZE, LENGTH), "float32")
        return {"label_ids": ids, "label_weights": weights}
    if kind == "pretrainer":
        return {
            name: create_features()[name]
            for name in modeling.PretrainingLoss().labels
        }
    return {name: labels % 2 for name in names.get(kind, ["label_ids"])}


LOSSES = {
    "pretrainer": modeling.PretrainingLoss,
    "tokens": modeling.TokenLoss,
    "spans": modeling.SpanLoss,
}


def keras_loss(y_true, y_pred):
    """A loss as users write it, of one output."""
    # Not of all values: the sum of an embedding's squares is 1.
    return keras.ops.square(keras.ops.reshape(y_pred, (BATCH_SIZE, -1))[:, 0])


def compiled(kind):
    """Returns a model with `keras_loss`, its inputs and labels."""
    model = KINDS[kind](seed=1)
    inputs = create_inputs(kind)
    first = model(inputs)
    if isinstance(first, dict):
        # Only the last output counts. A list cannot have a loss.
        model.compile("adam", {[*first][-1]: keras_loss})
        return (
            model,
            inputs,
            {[*first][-1]: np.zeros((BATCH_SIZE, 1), "float32")},
        )
    model.compile("adam", keras_loss)
    return model, inputs, np.zeros((BATCH_SIZE, 1), "float32")


def call_predict(kind, folder):
    model = KINDS[kind](seed=1)
    inputs = create_inputs(kind)
    assert_close(model.predict(inputs, verbose=0), model(inputs), 1e-5)


def fit_evaluate(kind, folder):
    model, inputs, labels = compiled(kind)
    before = model.evaluate(inputs, labels, verbose=0)
    model.fit(inputs, labels, epochs=3, verbose=0)
    assert np.isfinite(before)
    assert model.evaluate(inputs, labels, verbose=0) != before


def fit_own_loss(kind, folder):
    if kind in ("bert", "embedder"):
        pytest.skip("no loss of `modeling` fits it")
    model = KINDS[kind](seed=1)
    model.compile("adam", LOSSES.get(kind, modeling.ClassifierLoss)())
    inputs, labels = create_inputs(kind), labels_of(kind)
    loss = model.evaluate(inputs, labels, verbose=0)
    expected, _ = model.loss(model(inputs), inputs | labels)
    assert loss == pytest.approx(float(expected), abs=1e-4)
    model.fit(inputs, labels, verbose=0)
    loaded = save_and_load(model, folder)
    assert loaded.loss.get_config() == model.loss.get_config()
    if len(labels) == 1:
        (only,) = labels.values()
        again = loaded.evaluate(inputs, only, verbose=0)
        assert again == model.evaluate(inputs, labels, verbose=0)


def save_load(kind, folder):
    # A function is no part of a file.
    model, inputs, labels = compiled(kind)
    keras.saving.register_keras_serializable("tests")(keras_loss)
    model.fit(inputs, labels, verbose=0)
    loaded = save_and_load(model, folder)
    score = model.evaluate(inputs, labels, verbose=0)
    assert loaded.evaluate(inputs, labels, verbose=0) == score
    moments = zip(
        model.optimizer.variables, loaded.optimizer.variables, strict=True
    )
    for one, other in moments:
        assert_close(one.value, other.value, 0)
    loaded.fit(inputs, labels, verbose=0)


def clone(kind, folder):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    outputs = model(inputs)
    again = keras.models.clone_model(model)
    again.set_weights(model.get_weights())
    assert_close(again(inputs), outputs, 0)


def functional(kind, folder):
    inputs = create_inputs(kind)
    symbols = {
        name: keras.Input((None,) * (value.ndim - 1), name=name, dtype="int32")
        for name, value in inputs.items()
    }
    last = keras.tree.flatten(KINDS[kind](seed=1)(symbols))[-1]
    pooled = keras.ops.mean(last, axis=-1, keepdims=True)
    model = keras.Model(symbols, keras.layers.Dense(1)(pooled))
    model.compile("adam", "mse")
    target = np.zeros(model(inputs).shape, "float32")
    model.fit(inputs, target, verbose=0)


def summary(kind, folder):
    texts = []
    model = KINDS[kind](seed=1)
    model.build()
    model.summary(print_fn=texts.append)
    assert "Total params" in texts[0]


def frozen(kind, folder):
    model, inputs, labels = compiled(kind)
    part = model.embeddings if kind == "bert" else model.bert
    part.trainable = False
    if not model.trainable_variables:
        pytest.skip("nothing is left to train")
    model.compile("adam", model.loss)
    before = part.get_weights()
    model.fit(inputs, labels, verbose=0)
    assert_close(part.get_weights(), before, 0)
    keras.saving.register_keras_serializable("tests")(keras_loss)
    loaded = save_and_load(model, folder)
    number = len(model.trainable_variables)
    assert len(loaded.trainable_variables) == number


def mixed(kind, folder):
    if kind == "embedder":
        pytest.skip("its vectors are float32 by design")
    model = KINDS[kind](dtype="mixed_bfloat16")
    outputs = keras.tree.flatten(model(create_inputs(kind)))
    types = {
        keras.backend.standardize_dtype(output.dtype) for output in outputs
    }
    assert types == {"bfloat16"}


def lora(kind, folder):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    model.build()
    for layer in all_layers(model):
        if isinstance(layer, keras.layers.Dense):
            layer.enable_lora(2)
    assert_close(save_and_load(model, folder)(inputs), model(inputs), 1e-5)


def int8(kind, folder):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    before = flat(model(inputs))
    layers = all_layers(model)
    dense = [layer for layer in layers if isinstance(layer, keras.layers.Dense)]
    sizes = [layer.kernel.shape for layer in dense]
    model.quantize("int8")
    assert len(dense) == (14 if kind == "pretrainer" else 13)
    for layer, shape in zip(dense, sizes, strict=True):
        assert layer._kernel.dtype == "int8"
        assert layer._kernel.shape == shape
    assert_close(model(inputs), before, 0.3)
    assert_close(save_and_load(model, folder)(inputs), model(inputs), 1e-6)
    assert_close(model.predict(inputs, verbose=0), model(inputs), 0.1)


def int4(kind, folder):
    model = KINDS[kind]()
    model.build()
    model.quantize("int4")


def export(kind, folder, format):
    model, inputs, labels = compiled(kind)
    # As users do: of a model that was trained, not called.
    model.fit(inputs, labels, verbose=0)
    path = folder / f"export{SUFFIXES.get(format, '')}"
    model.export(path, format=format, verbose=False)
    # Other sizes than the trained ones.
    positions = "masked_lm_positions"
    short = {
        name: value[:2, ..., :5]
        for name, value in inputs.items()
        if name != positions
    }
    if positions in inputs:
        short[positions] = inputs[positions][:2, :3] % 5
    outputs = run(path, format, short)
    expected = model(short)
    if isinstance(expected, dict):
        name = [*expected][-1]
        outputs, expected = outputs[name], expected[name]
    assert_close(outputs, expected, 1e-4)


def run(path, format, inputs):
    if format == "tf_saved_model":
        import tensorflow as tf

        served = tf.saved_model.load(str(path))
        signature = served.signatures["serving_default"]
        specs = signature.structured_input_signature[1]
        assert specs.keys() == inputs.keys()
        assert {spec.dtype for spec in specs.values()} == {tf.int32}
        outputs = served.serve(
            {name: tf.constant(value) for name, value in inputs.items()}
        )
    elif format == "litert":
        interpreter = pytest.importorskip("ai_edge_litert.interpreter")
        runner = interpreter.Interpreter(str(path)).get_signature_runner()
        outputs = runner(**inputs)
        if [*outputs] == ["output_0"]:
            outputs = outputs["output_0"]
    else:
        import torch

        tensors = {
            name: torch.as_tensor(value) for name, value in inputs.items()
        }
        outputs = torch.export.load(str(path)).module()(tensors)
    return keras.tree.map_structure(keras.ops.convert_to_numpy, outputs)


OPERATIONS = {
    "call, predict": call_predict,
    "fit, evaluate": fit_evaluate,
    "fit with a loss of `modeling`": fit_own_loss,
    "save, load, fit on": save_load,
    "clone": clone,
    "functional use": functional,
    "summary": summary,
    "frozen parts": frozen,
    "mixed precision": mixed,
    "LoRA": lora,
    "quantize int8": int8,
    "quantize int4": int4,
    **{
        f"export {format}": functools.partial(export, format=format)
        for format in FORMATS
    },
}


@pytest.mark.slow
@pytest.mark.backends
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operation", TABLE)
def test_an_operation_of_keras_does_what_its_cell_says(
    operation, kind, tmp_path
):
    backend = BACKENDS[keras.backend.backend()]
    cell = TABLE[operation][backend]
    place = f"docs/api.md says `{cell}` of `{operation}` on {backend}"
    try:
        OPERATIONS[operation](kind, tmp_path)
        happens = "works"
    except ValueError as error:
        if cell == "works":
            error.add_note(f"{place}, but a {kind} raises this.")
            raise
        happens = str(error)
    assert cell in happens, f"{place}, but a {kind}: {happens}"


def test_the_table_names_every_operation():
    assert TABLE.keys() == OPERATIONS.keys()


@pytest.mark.backends
def test_more_ids_than_positions_are_named():
    ids = np.ones((1, LENGTH + 3), "int32")
    with pytest.raises(ValueError, match="11 ids, but 8 positions"):
        modeling.BertClassifier(CONFIG, NUM_LABELS)({"input_ids": ids})


def test_a_loss_names_the_labels_that_it_lacks():
    model = MODELS["spans"]()
    model.compile("adam", modeling.SpanLoss())
    inputs, labels = create_inputs("spans"), create_features()["label_ids"]
    with pytest.raises(ValueError, match="start_positions, end_positions"):
        model.fit(inputs, labels, verbose=0)


# Of losses whose labels are not named as the outputs are.
@pytest.mark.backends
@pytest.mark.parametrize(
    ("kind", "output", "label"),
    [
        ("pretrainer", "masked_lm_logits", "masked_lm_ids"),
        ("spans", "end_logits", "end_positions"),
        ("tokens", None, "label_ids"),
        ("classifier", None, "label_ids"),
    ],
)
@pytest.mark.parametrize("place", ["labels", "features"])
def test_metrics_compare_an_output_with_its_labels(place, kind, output, label):
    model = KINDS[kind](seed=1)
    inputs, labels = create_inputs(kind), labels_of(kind)
    outputs = model.predict(inputs, verbose=0)
    logits = outputs[output] if output else outputs
    is_right = logits.argmax(-1) == labels[label]
    weights = np.ones_like(is_right, "float32")
    # Padding of words and of masked positions.
    name = {"tokens": "label_weights", "pretrainer": "masked_lm_weights"}
    if kind in name:
        weights[:, 1:] = 0
        labels[name[kind]] = weights
    metrics = {
        kind: ["accuracy"] if output is None else {output: ["accuracy"]}
        for kind in ("metrics", "weighted_metrics")
    }
    loss = LOSSES.get(kind, modeling.ClassifierLoss)()
    model.compile("adam", loss, **metrics)
    if place == "labels":
        results = model.evaluate(inputs, labels, verbose=0, return_dict=True)
    else:
        features = tf.data.Dataset.from_tensors(inputs | labels)
        results = model.evaluate(features, verbose=0, return_dict=True)
    prefix = f"{output}_" if output else ""
    assert results[f"{prefix}accuracy"] == pytest.approx(is_right.mean())
    assert results[f"{prefix}weighted_accuracy"] == pytest.approx(
        np.average(is_right, weights=weights)
    )


@pytest.mark.backends
def test_an_output_may_have_a_loss_and_metrics_of_keras():
    model = KINDS["pretrainer"](seed=1)
    inputs, ids = create_inputs("pretrainer"), labels_of("pretrainer")
    ids = ids["masked_lm_ids"]
    name = "masked_lm_logits"
    is_right = model.predict(inputs, verbose=0)[name].argmax(-1) == ids
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", {name: loss}, weighted_metrics={name: ["accuracy"]})
    weights = np.arange(ids.size, dtype="float32").reshape(ids.shape)
    results = model.evaluate(
        inputs,
        {name: ids},
        sample_weight={name: weights},
        verbose=0,
        return_dict=True,
    )
    expected = np.average(is_right, weights=weights)
    assert results[f"{name}_accuracy"] == pytest.approx(expected)


def test_a_loss_without_labels_has_no_metrics():
    model = modeling.BertEmbedder(CONFIG)
    model.compile("adam", modeling.ContrastiveLoss(0.1), metrics=["accuracy"])
    with pytest.raises(ValueError, match="ContrastiveLoss has no labels"):
        model.fit(create_inputs("choices"), verbose=0)
