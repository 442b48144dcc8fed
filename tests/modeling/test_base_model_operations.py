"""What models can do as any model of Keras, and that docs/api.md says so.

Each operation has a test, which runs for each kind of model on the backend of
Keras. `make test` runs it for one kind, because it compiles each model anew.
TESTS_OF_OPERATIONS names the row of docs/api.md that a test proves.
test_keras_export_formats.py exports the models.
"""

import re

import keras
import numpy as np
import pytest

from modeling.layers import all_layers
from tests.support.keras_operations import (
    BACKENDS,
    KINDS,
    create_compiled,
    for_each_kind,
    keras_loss,
    loss_by_numpy,
    read_operations_of_page,
)
from tests.support.model_cases import (
    assert_close,
    create_inputs,
    create_labels,
    create_loss,
    flat,
    save_and_load,
)

KINDS_WITH_A_LOSS = [kind for kind in KINDS if kind not in ("bert", "embedder")]
# The vectors of an embedder are float32 by design, and nothing is left to train
# if its network is frozen.
KINDS_WITH_A_HEAD = [kind for kind in KINDS if kind != "embedder"]
INT4_ERROR = "take quantize('int8')"


def list_dense_layers(model):
    """Returns the dense layers of a model, at any depth."""
    layers = all_layers(model)
    return [layer for layer in layers if isinstance(layer, keras.layers.Dense)]


@for_each_kind(KINDS)
def test_predict_computes_what_a_call_does(kind):
    model = KINDS[kind](seed=1)
    inputs = create_inputs(kind)
    assert_close(model.predict(inputs, verbose=0), model(inputs), 1e-5)


@for_each_kind(KINDS)
def test_evaluate_returns_the_loss_of_the_outputs(kind):
    model, inputs, labels = create_compiled(kind)
    loss = model.evaluate(inputs, labels, verbose=0)
    assert loss == pytest.approx(loss_by_numpy(model(inputs)), rel=1e-4)


@for_each_kind(KINDS)
def test_fit_lowers_the_loss_of_the_outputs(kind):
    model, inputs, labels = create_compiled(kind)
    before = loss_by_numpy(model(inputs))
    model.fit(inputs, labels, epochs=3, verbose=0)
    assert loss_by_numpy(model(inputs)) < before


def create_compiled_with_own_loss(kind):
    """Returns a model with its loss of `modeling`, its inputs and labels."""
    model = KINDS[kind](seed=1)
    model.compile("adam", create_loss(kind))
    return model, create_inputs(kind), create_labels(kind)


@for_each_kind(KINDS_WITH_A_LOSS)
def test_evaluate_returns_the_loss_of_modeling(kind):
    model, inputs, labels = create_compiled_with_own_loss(kind)
    loss = model.evaluate(inputs, labels, verbose=0)
    expected, _ = model.loss(model(inputs), inputs | labels)
    assert loss == pytest.approx(float(expected), abs=1e-4)


@for_each_kind(KINDS_WITH_A_LOSS)
def test_a_file_has_the_loss_of_modeling_with_which_a_model_was_fitted(
    kind, tmp_path
):
    model, inputs, labels = create_compiled_with_own_loss(kind)
    model.fit(inputs, labels, verbose=0)
    loaded = save_and_load(model, tmp_path)
    assert loaded.loss.get_config() == model.loss.get_config()
    if len(labels) == 1:
        # A loss of one label takes it without its name too.
        (labels_alone,) = labels.values()
        loss = loaded.evaluate(inputs, labels_alone, verbose=0)
        assert loss == model.evaluate(inputs, labels, verbose=0)


@for_each_kind(KINDS)
def test_a_loaded_file_continues_with_the_optimizer_of_the_model(
    kind, tmp_path
):
    # A file contains only the name of a function, which Keras looks up here.
    keras.saving.register_keras_serializable("tests")(keras_loss)
    model, inputs, labels = create_compiled(kind)
    model.fit(inputs, labels, verbose=0)
    loaded = save_and_load(model, tmp_path)
    score = model.evaluate(inputs, labels, verbose=0)
    assert loaded.evaluate(inputs, labels, verbose=0) == score
    moments = zip(
        model.optimizer.variables, loaded.optimizer.variables, strict=True
    )
    for one, other in moments:
        assert_close(one.value, other.value, 0)
    loaded.fit(inputs, labels, verbose=0)


@for_each_kind(KINDS)
def test_a_clone_with_the_same_weights_computes_the_same(kind):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    outputs = model(inputs)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    assert_close(clone(inputs), outputs, 0)


@for_each_kind(KINDS)
def test_a_model_is_a_layer_of_a_functional_model_that_fits(kind):
    inputs = create_inputs(kind)
    symbols = {
        name: keras.Input((None,) * (value.ndim - 1), name=name, dtype="int32")
        for name, value in inputs.items()
    }
    last = keras.tree.flatten(KINDS[kind](seed=1)(symbols))[-1]
    pooled = keras.ops.mean(last, axis=-1, keepdims=True)
    model = keras.Model(symbols, keras.layers.Dense(1)(pooled))
    model.compile("adam", "mse")
    outputs = keras.ops.convert_to_numpy(model(inputs))
    # Far away, so that each step comes nearer.
    target = np.full_like(outputs, 10)
    model.fit(inputs, target, epochs=3, verbose=0)
    fitted = keras.ops.convert_to_numpy(model(inputs))
    assert np.mean((fitted - target) ** 2) < np.mean((outputs - target) ** 2)


@for_each_kind(KINDS)
def test_summary_prints_the_number_of_weights(kind):
    texts = []
    model = KINDS[kind](seed=1)
    model.build()
    model.summary(print_fn=texts.append)
    assert f"Total params: {model.count_params():,}" in texts[0]


def create_partly_frozen(kind):
    """Returns a compiled model, its frozen part, and inputs and labels."""
    model, inputs, labels = create_compiled(kind)
    part = model.embeddings if kind == "bert" else model.bert
    part.trainable = False
    model.compile("adam", model.loss)
    return model, part, inputs, labels


@for_each_kind(KINDS_WITH_A_HEAD)
def test_fit_keeps_the_weights_of_a_frozen_part(kind):
    model, part, inputs, labels = create_partly_frozen(kind)
    before = part.get_weights()
    model.fit(inputs, labels, verbose=0)
    assert_close(part.get_weights(), before, 0)


@for_each_kind(KINDS_WITH_A_HEAD)
def test_a_frozen_part_stays_frozen_in_a_file(kind, tmp_path):
    keras.saving.register_keras_serializable("tests")(keras_loss)
    model, _, _, _ = create_partly_frozen(kind)
    loaded = save_and_load(model, tmp_path)
    num_trained = len(model.trainable_variables)
    assert num_trained < len(model.variables)
    assert len(loaded.trainable_variables) == num_trained


@for_each_kind(KINDS_WITH_A_HEAD)
def test_all_outputs_are_bfloat16_in_mixed_precision(kind):
    model = KINDS[kind](dtype="mixed_bfloat16")
    outputs = keras.tree.flatten(model(create_inputs(kind)))
    types = {
        keras.backend.standardize_dtype(output.dtype) for output in outputs
    }
    assert types == {"bfloat16"}


@for_each_kind(KINDS)
def test_a_file_keeps_what_a_model_with_lora_computes(kind, tmp_path):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    model.build()
    for layer in list_dense_layers(model):
        layer.enable_lora(2)
    assert_close(save_and_load(model, tmp_path)(inputs), model(inputs), 1e-5)


@for_each_kind(KINDS)
def test_int8_stores_the_kernel_of_each_dense_layer_in_a_byte_a_value(kind):
    model = KINDS[kind](seed=1)
    model.build()
    layers = list_dense_layers(model)
    shapes = [layer.kernel.shape for layer in layers]
    model.quantize("int8")
    assert {layer.kernel.dtype for layer in layers} == {"int8"}
    assert [layer.kernel.shape for layer in layers] == shapes


@for_each_kind(KINDS)
def test_int8_changes_the_outputs_little(kind):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    before = flat(model(inputs))
    model.quantize("int8")
    assert_close(model(inputs), before, 0.3)
    assert_close(model.predict(inputs, verbose=0), model(inputs), 0.1)


@for_each_kind(KINDS)
def test_a_file_keeps_what_an_int8_model_computes(kind, tmp_path):
    model, inputs = KINDS[kind](seed=1), create_inputs(kind)
    model.build()
    model.quantize("int8")
    assert_close(save_and_load(model, tmp_path)(inputs), model(inputs), 1e-6)


@for_each_kind(KINDS)
def test_an_error_names_int8_instead_of_int4(kind):
    model = KINDS[kind]()
    model.build()
    with pytest.raises(ValueError, match=re.escape(INT4_ERROR)):
        model.quantize("int4")


# {operation that works on every backend, as in docs/api.md: its tests}.
TESTS_OF_OPERATIONS = {
    "call, predict": [test_predict_computes_what_a_call_does],
    "fit, evaluate": [
        test_evaluate_returns_the_loss_of_the_outputs,
        test_fit_lowers_the_loss_of_the_outputs,
    ],
    "fit with a loss of `modeling`": [
        test_evaluate_returns_the_loss_of_modeling,
        test_a_file_has_the_loss_of_modeling_with_which_a_model_was_fitted,
    ],
    "save, load, fit on": [
        test_a_loaded_file_continues_with_the_optimizer_of_the_model
    ],
    "clone": [test_a_clone_with_the_same_weights_computes_the_same],
    "functional use": [test_a_model_is_a_layer_of_a_functional_model_that_fits],
    "summary": [test_summary_prints_the_number_of_weights],
    "frozen parts": [
        test_fit_keeps_the_weights_of_a_frozen_part,
        test_a_frozen_part_stays_frozen_in_a_file,
    ],
    "mixed precision": [test_all_outputs_are_bfloat16_in_mixed_precision],
    "LoRA": [test_a_file_keeps_what_a_model_with_lora_computes],
    "quantize int8": [
        test_int8_stores_the_kernel_of_each_dense_layer_in_a_byte_a_value,
        test_int8_changes_the_outputs_little,
        test_a_file_keeps_what_an_int8_model_computes,
    ],
}


def test_the_page_lists_the_operations_that_work():
    everywhere = dict.fromkeys(BACKENDS.values(), "works")
    working = {
        row
        for row, cells in read_operations_of_page().items()
        if cells == everywhere
    }
    assert working == TESTS_OF_OPERATIONS.keys()


def test_the_page_says_what_to_take_instead_of_int4():
    cells = read_operations_of_page()["quantize int4"]
    assert cells == dict.fromkeys(BACKENDS.values(), INT4_ERROR)
