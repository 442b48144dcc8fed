"""Every model does what Keras promises of its own ones."""

import json
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from modeling.layers import all_layers
from tests.support.model_cases import (
    CONFIG,
    EACH_MODEL,
    LENGTH,
    MODELS,
    NUM_DENSE,
    NUM_LABELS,
    VOCAB_SIZE,
    WIDTH,
    assert_close,
    create_inputs,
    flat,
    save_and_load,
)
from tests.support.models import built


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_is_made_again_saved_and_loaded(kind, tmp_path):
    model = MODELS[kind](name="given", seed=1)
    inputs = create_inputs(kind)
    config = model.get_config()
    again = type(model).from_config(json.loads(json.dumps(config)))
    assert again.get_config() == config
    assert again.name == "given"
    outputs = model(inputs)
    assert_close(again(inputs), outputs, 0)
    assert_close(save_and_load(model, tmp_path)(inputs), outputs, 0)
    # In a functional model, of any length.
    symbols = {
        name: keras.Input((None,) * (value.ndim - 1), name=name, dtype="int32")
        for name, value in inputs.items()
    }
    functional = keras.Model(symbols, model(symbols))
    assert_close(functional(inputs), outputs, 0)
    clone = keras.models.clone_model(functional)
    clone.set_weights(functional.get_weights())
    assert_close(clone(inputs), outputs, 0)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_each_dtype_policy_is_obeyed(kind, dtype):
    model, exact = (MODELS[kind](dtype=policy) for policy in (dtype, "float64"))
    inputs = create_inputs(kind)
    outputs = model(inputs)
    exact(inputs)
    for weight, value in zip(exact.weights, model.weights, strict=True):
        weight.assign(value)
    compute_dtype = dtype.removeprefix("mixed_")
    for output in keras.tree.flatten(outputs):
        assert keras.backend.standardize_dtype(output.dtype) == compute_dtype
    assert {weight.dtype for weight in model.weights} == {"float32"}
    assert {weight.dtype for weight in exact.weights} == {"float64"}
    tolerance = {"float32": 1e-5, "bfloat16": 0.3}
    assert_close(outputs, exact(inputs), tolerance[compute_dtype])


def enable_lora(model):
    """Gives each dense layer of a model a delta of rank 2. Returns them."""
    layers = all_layers(model)
    dense = [layer for layer in layers if isinstance(layer, keras.layers.Dense)]
    for layer in dense:
        layer.enable_lora(2)
    return dense


def train_deltas(model, layers, features):
    """Changes the deltas of layers by a step down the gradient of a sum."""

    @tf.function(autograph=False)
    def compute_gradients():
        with tf.GradientTape() as tape:
            outputs = keras.tree.flatten(model(features, training=True))
            loss = tf.add_n(
                [tf.reduce_sum(tf.sin(output)) for output in outputs]
            )
        deltas = [layer.lora_kernel_b.value for layer in layers]
        return tape.gradient(loss, deltas)

    for layer, gradient in zip(layers, compute_gradients(), strict=True):
        # The outputs of some models do not depend on the pooler.
        if gradient is not None:
            layer.lora_kernel_b.assign_sub(0.1 * gradient)


@pytest.mark.parametrize("kind", EACH_MODEL)
def test_lora_gives_each_dense_layer_a_delta_of_zero(kind):
    model = MODELS[kind](seed=1)
    features = create_inputs(kind)
    expected = flat(model(features))
    assert len(enable_lora(model)) == NUM_DENSE[kind]
    assert_close(model(features), expected)


@pytest.mark.parametrize("kind", EACH_MODEL)
def test_trained_deltas_of_lora_are_merged_in_a_file(kind, tmp_path):
    model = MODELS[kind](seed=1)
    features = create_inputs(kind)
    before = flat(model(features))
    train_deltas(model, enable_lora(model), features)
    after = flat(model(features))
    changes = [
        np.abs(one - other).max()
        for one, other in zip(before, after, strict=True)
    ]
    assert max(changes) > 1e-3
    assert_close(save_and_load(model, tmp_path)(features), after, 1e-5)


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("bert", [(None, None, WIDTH), (None, WIDTH)]),
        ("pretrainer", [(None, None, VOCAB_SIZE), (None, 2)]),
        ("classifier", [(None, NUM_LABELS)]),
        ("tokens", [(None, None, NUM_LABELS)]),
        ("spans", [(None, None, 2)]),
    ],
)
def test_the_summary_shows_the_shape_of_each_layer(kind, shapes):
    texts = []
    built(MODELS[kind]()).summary(print_fn=texts.append)
    expected = [str(shape) for shape in [(None, None, WIDTH), *shapes]]
    assert re.findall(r"\(None.*?\)|\?", texts[0]) == expected


OPTIONAL = {"input_mask", "segment_ids"}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in MODELS
        for name in create_inputs(kind)
        if name not in OPTIONAL
    ],
)
def test_a_call_without_an_input_says_which(kind, name):
    model = built(MODELS[kind]())
    features = create_inputs(kind)
    del features[name]
    with pytest.raises(ValueError, match=rf"lacks the inputs \['{name}'\]"):
        model(features)
    with pytest.raises(ValueError, match=rf"lacks the inputs \['{name}'\]"):
        model.predict(features, verbose=0)


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "bert"])
def test_a_model_of_a_task_says_that_it_reads_a_dict(kind):
    model = built(MODELS[kind]())
    ids = create_inputs(kind)["input_ids"]
    with pytest.raises(ValueError, match=r"reads a dict of .*'input_ids'"):
        model.predict(ids, verbose=0)


@pytest.mark.backends
def test_a_row_that_is_too_long_is_refused_with_its_length():
    ids = np.ones((1, LENGTH + 3), "int32")
    with pytest.raises(ValueError, match="11 ids, but 8 positions"):
        modeling.BertClassifier(CONFIG, NUM_LABELS)({"input_ids": ids})
