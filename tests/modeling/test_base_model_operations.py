"""What models can do as any model of Keras, and that docs/api.md says so.

OPERATIONS names for each operation the function that tries it: a function of a
kind of model and an empty folder, which fails if the operation does not work as
users expect of Keras. ERRORS names the operations that raise an error instead.
"""

import functools
import re

import keras
import numpy as np
import pytest

import modeling
from modeling.layers import all_layers
from tests.support.model_cases import (
    BATCH_SIZE,
    CONFIG,
    MODELS,
    assert_close,
    create_inputs,
    create_labels,
    create_loss,
    flat,
    save_and_load,
)
from tests.support.paths import ROOT

KINDS = {**MODELS, "embedder": lambda **more: modeling.BertEmbedder(CONFIG)}
# {backend: its column in docs/api.md}.
BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "torch"}
FORMATS = ("tf_saved_model", "litert", "torch", "onnx", "openvino")
SUFFIXES = {"litert": ".tflite", "onnx": ".onnx", "torch": ".pt2"}


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
    """predict computes what a call does."""
    model = KINDS[kind](seed=1)
    inputs = create_inputs(kind)
    assert_close(model.predict(inputs, verbose=0), model(inputs), 1e-5)


def fit_evaluate(kind, folder):
    """fit changes what evaluate finds, with a loss of the user."""
    model, inputs, labels = compiled(kind)
    before = model.evaluate(inputs, labels, verbose=0)
    model.fit(inputs, labels, epochs=3, verbose=0)
    assert np.isfinite(before)
    assert model.evaluate(inputs, labels, verbose=0) != before


def fit_own_loss(kind, folder):
    """fit takes the loss of `modeling`, also after a save."""
    if kind in ("bert", "embedder"):
        pytest.skip("no loss of `modeling` fits it")
    model = KINDS[kind](seed=1)
    model.compile("adam", create_loss(kind))
    inputs, labels = create_inputs(kind), create_labels(kind)
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
    """A file has the weights and the state of the optimizer."""
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
    """A clone with the same weights computes the same."""
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    outputs = model(inputs)
    again = keras.models.clone_model(model)
    again.set_weights(model.get_weights())
    assert_close(again(inputs), outputs, 0)


def functional(kind, folder):
    """A model is a layer of a functional model, which can be fitted."""
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
    """summary prints the number of weights."""
    texts = []
    model = KINDS[kind](seed=1)
    model.build()
    model.summary(print_fn=texts.append)
    assert "Total params" in texts[0]


def frozen(kind, folder):
    """A frozen part keeps its weights in fit, and stays frozen in a file."""
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
    """All outputs are bfloat16 in mixed precision."""
    if kind == "embedder":
        pytest.skip("its vectors are float32 by design")
    model = KINDS[kind](dtype="mixed_bfloat16")
    outputs = keras.tree.flatten(model(create_inputs(kind)))
    types = {
        keras.backend.standardize_dtype(output.dtype) for output in outputs
    }
    assert types == {"bfloat16"}


def lora(kind, folder):
    """A file keeps what a model with LoRA computes."""
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    model.build()
    for layer in all_layers(model):
        if isinstance(layer, keras.layers.Dense):
            layer.enable_lora(2)
    assert_close(save_and_load(model, folder)(inputs), model(inputs), 1e-5)


def int8(kind, folder):
    """int8 makes all dense layers smaller, and changes outputs little."""
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    before = flat(model(inputs))
    layers = all_layers(model)
    dense = [layer for layer in layers if isinstance(layer, keras.layers.Dense)]
    sizes = [layer.kernel.shape for layer in dense]
    model.quantize("int8")
    assert len(dense) == (14 if kind == "pretrainer" else 13)
    for layer, shape in zip(dense, sizes, strict=True):
        assert layer.kernel.dtype == "int8"
        assert layer.kernel.shape == shape
    assert_close(model(inputs), before, 0.3)
    assert_close(save_and_load(model, folder)(inputs), model(inputs), 1e-6)
    assert_close(model.predict(inputs, verbose=0), model(inputs), 0.1)


def int4(kind, folder):
    """Asks for int4, which no model offers."""
    model = KINDS[kind]()
    model.build()
    model.quantize("int4")


def export(kind, folder, format):
    """An export computes what the model does, at other sizes too."""
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
    outputs = run_export(path, format, short)
    expected = model(short)
    if isinstance(expected, dict):
        name = [*expected][-1]
        outputs, expected = outputs[name], expected[name]
    assert_close(outputs, expected, 1e-4)


def run_export(path, format, inputs):
    """Returns the outputs of an export in the framework of its format."""
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


# Words of the errors, which name the formats of the backend.
TO_TORCH = "exports this model as torch"
TO_SAVED_MODEL = "exports this model as tf_saved_model"
TO_LITERT_TOO = "exports this model as tf_saved_model or litert"
TO_OTHERS = {
    "tensorflow": TO_LITERT_TOO,
    "jax": TO_SAVED_MODEL,
    "torch": TO_TORCH,
}
# {operation: {backend: words of its error}}. Every other operation works.
ERRORS = {
    "quantize int4": dict.fromkeys(BACKENDS, "take quantize('int8')"),
    "export tf_saved_model": {"torch": TO_TORCH},
    "export litert": {"jax": TO_SAVED_MODEL, "torch": TO_TORCH},
    "export torch": {"tensorflow": TO_LITERT_TOO, "jax": TO_SAVED_MODEL},
    "export onnx": TO_OTHERS,
    "export openvino": TO_OTHERS,
}


@pytest.mark.slow
@pytest.mark.backends
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_of_keras_works_or_names_what_does(
    operation, kind, tmp_path
):
    words = ERRORS.get(operation, {}).get(keras.backend.backend())
    if words is None:
        OPERATIONS[operation](kind, tmp_path)
    else:
        with pytest.raises(ValueError, match=re.escape(words)):
            OPERATIONS[operation](kind, tmp_path)


def read_table():
    """Returns {operation: {column: cell}} of the table in docs/api.md."""
    text = (ROOT / "docs/api.md").read_text("utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in re.findall(r"(?m)^\|.*\|$", text)
    ]
    header, _, *rows = rows
    return {
        operation: dict(zip(header[1:], cells, strict=True))
        for operation, *cells in rows
    }


def test_the_page_shows_what_each_operation_does():
    expected = {}
    for operation in OPERATIONS:
        errors = ERRORS.get(operation, {})
        expected[operation] = {
            column: errors.get(backend, "works")
            for backend, column in BACKENDS.items()
        }
    assert read_table() == expected
