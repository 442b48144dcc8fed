"""Every layer and model does what Keras promises of its own ones."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.modeling.kinds import (
    EACH_MODEL,
    EVERYTHING,
    MODELS,
    NUM_DENSE,
    T,
    assert_close,
    create_functional,
    create_inputs,
    dense_layers,
    flat,
    save_and_load,
)


@pytest.mark.parametrize("kind", EVERYTHING)
def test_the_configuration_makes_the_same_again(kind):
    layer = EVERYTHING[kind](name="given", dtype="mixed_bfloat16")
    config = layer.get_config()
    again = type(layer).from_config(json.loads(json.dumps(config)))
    assert again.get_config() == config
    assert again.name == "given"
    inputs = create_inputs(kind)
    layer(*inputs)
    again(*inputs)
    shapes = [[w.shape for w in each.weights] for each in (layer, again)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("kind", EVERYTHING)
def test_a_file_and_a_clone_hold_the_same(kind, tmp_path):
    model, inputs = create_functional(kind)
    assert_close(save_and_load(model, tmp_path)(inputs), model(inputs), 0)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    assert_close(clone(inputs), model(inputs), 0)


@pytest.mark.parametrize("kind", EVERYTHING)
def test_a_functional_model_gives_what_a_call_gives(kind):
    model, inputs = create_functional(kind, free=True, name="inner")
    inner = model.get_layer("inner")
    assert_close(model(inputs), inner(*inputs), 0)


@pytest.mark.parametrize("kind", EVERYTHING)
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_each_dtype_policy_is_obeyed(kind, dtype):
    layer, exact = (EVERYTHING[kind](dtype=x) for x in (dtype, "float64"))
    inputs = create_inputs(kind)
    outputs = layer(*inputs)
    exact(*inputs)
    for weight, value in zip(exact.weights, layer.weights, strict=True):
        weight.assign(value)
    compute_dtype = dtype.removeprefix("mixed_")
    for output in keras.tree.flatten(outputs):
        assert keras.backend.standardize_dtype(output.dtype) == compute_dtype
    assert {weight.dtype for weight in layer.weights} == {"float32"}
    assert {weight.dtype for weight in exact.weights} == {"float64"}
    tolerance = {"float32": 1e-5, "bfloat16": 0.3}
    assert_close(outputs, exact(*inputs), tolerance[compute_dtype])


@pytest.mark.parametrize("kind", EACH_MODEL)
def test_a_model_that_was_never_called_is_exported(kind, tmp_path):
    """The export is compared at two lengths."""
    model = MODELS[kind]()
    model.export(tmp_path, verbose=False)
    exported = tf.saved_model.load(tmp_path)
    (features,) = create_inputs(kind)
    for length in (T, T - 1):
        part = {
            name: tf.constant(
                value if name == "masked_lm_positions" else value[..., :length]
            )
            for name, value in features.items()
        }
        if kind == "pretrainer":
            positions = tf.minimum(part["masked_lm_positions"], length - 1)
            part["masked_lm_positions"] = positions
        outputs = model(part)
        if kind == "bert":
            layers = outputs.pop("all_encoder_layers")
            for index, layer in enumerate(layers):
                outputs[f"encoder_layer_{index}"] = layer
        found = exported.serve(part)
        keras.tree.assert_same_structure(found, outputs)
        assert_close(found, outputs, 1e-5)


@pytest.mark.parametrize("kind", EACH_MODEL)
def test_lora_trains_few_weights_and_is_merged_in_a_file(kind, tmp_path):
    model = MODELS[kind](seed=1)
    (features,) = create_inputs(kind)
    before = flat(model(features))
    model.trainable = False
    model.trainable = True
    dense = dense_layers(model)
    assert len(dense) == NUM_DENSE[kind]
    for layer in dense:
        layer.enable_lora(2)
    # New deltas are zero.
    assert_close(model(features), before)

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            outputs = keras.tree.flatten(model(features, training=True))
            loss = tf.add_n([tf.reduce_sum(tf.sin(each)) for each in outputs])
        deltas = [layer.lora_kernel_b.value for layer in dense]
        return tape.gradient(loss, deltas)

    for layer, gradient in zip(dense, step(), strict=True):
        if gradient is not None:
            layer.lora_kernel_b.assign_sub(0.1 * gradient)
    after = flat(model(features))
    assert np.abs(after[0] - before[0]).max() > 1e-3 or kind == "bert"
    assert_close(save_and_load(model, tmp_path)(features), after, 1e-5)


FROZEN = {
    "the encoder": lambda bert: bert,
    "embeddings": lambda bert: bert.embeddings,
    "a block": lambda bert: bert.encoder.blocks[1],
    "one dense layer": lambda bert: bert.encoder.blocks[0].intermediate,
    "the pooler": lambda bert: bert.pooler,
}


def trainable_paths(model):
    return sorted(
        weight.path.split("/", 1)[1] for weight in model.trainable_variables
    )


@pytest.mark.parametrize("what", FROZEN)
@pytest.mark.parametrize("built", [False, True])
def test_a_frozen_layer_stays_frozen(what, built, tmp_path):
    model = MODELS["classifier"]()
    if built:
        model.build()
    FROZEN[what](model.bert).trainable = False
    if not built:
        model.build()
    expected = trainable_paths(model)
    assert 0 < len(expected) < len(model.weights)
    assert trainable_paths(save_and_load(model, tmp_path)) == expected
    clone = keras.models.clone_model(model)
    clone.build_once()
    assert trainable_paths(clone) == expected


def test_bert_takes_a_dict_or_several_tensors():
    bert = MODELS["bert"]()
    (features,) = create_inputs("bert")
    assert_close(bert(features), bert(*features.values()), 0)
    with pytest.raises(ValueError, match="all features in the dict"):
        bert(features, features["input_mask"])
