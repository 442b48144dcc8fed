"""The models as a user meets them: called, fitted, saved, in any precision."""

import functools
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
from model_folders import kinds
from modeling import BertConfig, BertPretrainer
from modeling.losses import PretrainingLoss
from modeling.task_models import keras_class_of
from tests.support.model_cases import (
    BATCH_SIZE,
    CONFIG,
    LENGTH,
    MODELS,
    NUM_CHOICES,
    NUM_LABELS,
    NUM_MASKED,
    VOCAB_SIZE,
    assert_close,
    create_features,
    create_inputs,
)
from tests.support.models import built

OUTPUTS = {
    "pretrainer": {
        "masked_lm_logits": (BATCH_SIZE, NUM_MASKED, VOCAB_SIZE),
        "next_sentence_logits": (BATCH_SIZE, 2),
    },
    "classifier": (BATCH_SIZE, NUM_LABELS),
    "tokens": (BATCH_SIZE, LENGTH, NUM_LABELS),
    "spans": {
        "start_logits": (BATCH_SIZE, LENGTH),
        "end_logits": (BATCH_SIZE, LENGTH),
    },
    "choices": (BATCH_SIZE, NUM_CHOICES),
}


@pytest.mark.parametrize("name", kinds.KIND_OF_CLASS)
def test_each_kind_of_model_is_a_class(name):
    assert keras_class_of(name).__name__ == name


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_build_without_data_creates_what_a_call_uses(kind):
    model = MODELS[kind]()
    model.build()
    names = [weight.path for weight in model.weights]
    assert len(set(names)) == len(names)
    outputs = model(create_features(kind))
    assert [weight.path for weight in model.weights] == names
    shapes = keras.tree.map_structure(lambda x: tuple(x.shape), outputs)
    assert shapes == OUTPUTS[kind]


def test_one_graph_computes_any_batch_and_length():
    features = create_features()
    model = MODELS["spans"]()
    names = ("input_ids", "input_mask", "segment_ids")
    spec = dict.fromkeys(names, tf.TensorSpec([None, None], tf.int32))
    call = tf.function(model, input_signature=[spec])
    for rows, length in ((BATCH_SIZE, LENGTH), (1, 5)):
        part = {name: features[name][:rows, :length] for name in names}
        assert_close(call(part), model(part), 1e-6)
    too_long = {name: np.tile(value, 8) for name, value in part.items()}
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(too_long)


def call_in_training(model, features):
    return np.asarray(model(features, training=True))


def test_the_seed_decides_the_weights():
    features = create_features()
    create = MODELS["classifier"]
    outputs = create(seed=3)(features)
    assert_close(create(seed=3)(features), outputs, 0)
    assert np.abs(create(seed=4)(features) - outputs).max() > 1e-4


def test_the_seed_decides_the_dropout_of_each_call():
    features = create_features()
    first, second = (MODELS["classifier"](seed=3) for _ in range(2))
    for _ in range(2):
        outputs = call_in_training(first, features)
        assert_close(call_in_training(second, features), outputs, 0)


def test_each_call_drops_other_elements():
    features = create_features()
    model = MODELS["classifier"](seed=3)
    outputs = call_in_training(model, features)
    assert np.abs(call_in_training(model, features) - outputs).max() > 1e-4


def test_a_seed_of_a_call_decides_its_dropout():
    features = create_features()
    model = MODELS["classifier"](seed=3)
    seed = keras.ops.convert_to_tensor([5, 6], dtype="int64")
    outputs = model(features, training=True, seed=seed)
    # A call without a seed draws one, which changes nothing here.
    model(features, training=True)
    assert_close(model(features, training=True, seed=seed), outputs, 0)


def test_only_training_drops_out():
    features = create_features()
    model = MODELS["classifier"](seed=3)
    seed = keras.ops.convert_to_tensor([5, 6], dtype="int64")
    for network in (model, model.bert):
        expected = network(features)
        actual = network(features, training=False, seed=seed)
        keras.tree.map_structure(
            lambda one, two: assert_close(one, two, 0), expected, actual
        )


def test_no_two_kernels_start_at_the_same_values():
    config = BertConfig(
        vocab_size=500, hidden_size=96, num_hidden_layers=1, type_vocab_size=2
    )
    model = built(BertPretrainer(config, seed=0))
    kernels = [
        weight for weight in model.weights if weight.path.endswith("/kernel")
    ]
    firsts = {float(np.asarray(kernel)[0, 0]) for kernel in kernels}
    assert len(firsts) == len(kernels)


def train_step(model, features, seed):
    """Returns the loss and the gradients of a step, in a graph."""

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            outputs = model(features, training=True, seed=seed)
            total, _ = PretrainingLoss()(outputs, features)
        return total, tape.gradient(total, model.trainable_variables)

    total, gradients = step()
    return total, [tf.convert_to_tensor(gradient) for gradient in gradients]


@pytest.mark.parametrize(
    "dtype", ["float64", pytest.param("mixed_bfloat16", marks=pytest.mark.slow)]
)
def test_gradient_checkpointing_repeats_the_dropout(dtype):
    features = create_features()
    seed = keras.ops.convert_to_tensor([1, 2], dtype="int64")
    create = functools.partial(MODELS["pretrainer"], seed=0, dtype=dtype)
    plain = built(create())
    checkpointed = built(create(gradient_checkpointing=True))
    expected = train_step(plain, features, seed)
    tolerance = 1e-12 if dtype == "float64" else 1e-2
    assert_close(train_step(checkpointed, features, seed), expected, tolerance)


@pytest.mark.parametrize("kind", ["classifier", "bert"])
def test_a_feature_of_a_name_that_the_model_lacks_is_refused(kind):
    """A mask with another library's name would silently be left out."""
    features = create_features()
    features["attention_mask"] = features["input_mask"]
    with pytest.raises(ValueError, match="attention_mask"):
        MODELS[kind]()(features)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *itertools.product(MODELS, ["input_ids", "segment_ids"]),
        ("pretrainer", "masked_lm_positions"),
    ],
)
@pytest.mark.parametrize("wrong", [-1, 10_000, 0.5])
def test_ids_that_are_not_in_the_table_are_refused(kind, name, wrong):
    model = MODELS[kind]()
    features = create_features(kind)
    ids = np.array(features[name], type(wrong))
    ids.flat[1] = wrong
    message = f"`{name}` must be whole .*{wrong}"
    with pytest.raises(ValueError, match=message):
        model({**features, name: ids})


@pytest.mark.parametrize("method", ["predict", "evaluate", "train_on_batch"])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("input_ids", -1),
        ("input_ids", VOCAB_SIZE),
        ("segment_ids", -1),
        ("segment_ids", CONFIG.type_vocab_size),
    ],
)
def test_ids_beyond_the_tables_are_refused_in_a_graph(method, name, wrong):
    model = MODELS["choices"]()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss)
    batch = create_features("choices")
    ids = np.array(batch[name])
    ids.flat[1] = wrong
    batch[name] = ids
    labels = [] if method == "predict" else [np.zeros(len(ids))]
    says = f"= {wrong} is not in|{name}` must be from 0"
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        getattr(model, method)(batch, *labels)


def test_ids_within_the_tables_are_computed_in_a_graph():
    outputs = MODELS["choices"]().predict(create_features("choices"), verbose=0)
    assert np.isfinite(outputs).all()


@pytest.mark.parametrize("wrong", [-1, LENGTH])
def test_positions_beyond_the_sequence_are_refused_in_a_graph(wrong):
    model = MODELS["pretrainer"]()
    features = create_features("pretrainer")
    positions = np.array(features["masked_lm_positions"])
    positions.flat[1] = wrong
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be from 0"):
        model.predict({**features, "masked_lm_positions": positions}, verbose=0)


def test_an_embedder_predicts_one_text_or_several_per_example():
    embedder = modeling.BertEmbedder(CONFIG, seed=1)
    one = create_inputs("classifier")
    several = create_inputs("choices")
    dataset = tf.data.Dataset.from_tensors(several)
    for batch in (one, several, one, dataset):
        features = batch if isinstance(batch, dict) else several
        vectors = embedder.predict(batch, verbose=0)
        assert_close(vectors, embedder(features), 1e-6)
        # A graph is made again for another rank alone.
        graph = embedder.predict_function
        embedder.predict(batch, verbose=0)
        assert embedder.predict_function is graph
