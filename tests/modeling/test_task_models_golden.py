"""The network against recordings of Google's code."""

import dataclasses
import functools
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling import BertClassifier, BertConfig, BertPretrainer, BertSpanLabeler
from modeling.checkpoints.variables import google_name_of
from modeling.losses import ClassifierLoss, PretrainingLoss, SpanLoss
from tests.support import fresh_process, golden, source_files
from tests.support.paths import ROOT

MODELS = golden.path_params("models/*")
# {type of the numbers: largest difference from outputs that Google's code
# computed in float32}. In float64, only the recordings are rounded, by 2e-6.
TOLERANCE_OF_OUTPUTS = {"float32": 1e-4, "float64": 2e-5}


def load_arrays(folder, name, prefix=""):
    """Returns the entries of an npz whose names begin with `prefix`."""
    path = folder / name
    if not path.exists():
        pytest.skip(f"no {name} in {folder}")
    with np.load(path) as entries:
        return {
            key.removeprefix(prefix): entries[key]
            for key in entries.files
            if key.startswith(prefix)
        }


def create_model(folder, keras_class, *args, extra=(), **kwargs):
    """Returns a model with the folder's weights and those of `extra`."""
    # Without dropout, as the recordings were made, in training too.
    config = dataclasses.replace(
        BertConfig.from_json_file(folder / "bert_config.json"),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = keras_class(config, *args, **kwargs)
    model.build()
    reader = tf.train.load_checkpoint(str(folder / "bert_model.ckpt"))
    for variable in model.weights:
        name = google_name_of(variable)
        is_in = name in extra
        variable.assign(extra[name] if is_in else reader.get_tensor(name))
    return model


def log_softmax(logits):
    logits = keras.ops.convert_to_numpy(logits)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def largest_difference(left, right):
    left, right = map(keras.ops.convert_to_numpy, (left, right))
    assert left.shape == right.shape
    return np.abs(left - right).max()


@pytest.fixture(params=golden.VERSIONS)
def version(request):
    """How a function is run: plain, compiled and so on."""
    with golden.compute_in_version(request.param) as version:
        yield version


@functools.cache
def compute_forward_pass(folder, one_hot, dtype, version_name):
    """Computes what is recorded of a forward pass, once for several tests.

    Returns {name: array} of the encoder, of the losses, and of the
    log-probabilities of both heads.
    """
    features = load_arrays(folder, "forward.npz", "in/")
    model = create_model(
        folder, BertPretrainer, use_one_hot_embeddings=one_hot, dtype=dtype
    )
    with golden.compute_in_version(version_name) as version:
        encoded, outputs = version.run(
            lambda: (
                model.bert(features, training=version.training),
                model(features, training=version.training),
            )
        )
        total, losses = PretrainingLoss()(outputs, features)
    for index, layer in enumerate(encoded.pop("all_encoder_layers")):
        encoded[f"encoder_layer_{index}"] = layer
    log_probs = log_softmax(outputs["masked_lm_logits"])
    log_probs = log_probs.reshape(-1, log_probs.shape[-1])
    rows = np.arange(len(log_probs))
    ids = features["masked_lm_ids"].reshape(-1)
    heads = {
        "masked_lm_log_probs": log_probs,
        "masked_lm_example_loss": -log_probs[rows, ids],
        "next_sentence_log_probs": log_softmax(outputs["next_sentence_logits"]),
    }
    parts = encoded, {**losses, "total": total}, heads
    return keras.tree.map_structure(keras.ops.convert_to_numpy, parts)


def check_recorded(folder, dtype, actual):
    """Checks that values are nearly those that Google's code computed."""
    expected = load_arrays(folder, "forward.npz", "out/")
    for name, value in actual.items():
        difference = largest_difference(value, expected[name])
        assert difference < TOLERANCE_OF_OUTPUTS[dtype], name


def for_each_forward_pass(test):
    """Marks a test that runs for each network, type of numbers and version."""
    one_hot = [False, pytest.param(True, marks=pytest.mark.slow)]
    for mark in (
        pytest.mark.parametrize("version_name", golden.VERSIONS),
        pytest.mark.parametrize("dtype", ["float32", "float64"]),
        pytest.mark.parametrize("one_hot", one_hot),
        pytest.mark.parametrize("folder", MODELS),
        pytest.mark.backends,
    ):
        test = mark(test)
    return test


@for_each_forward_pass
def test_vectors_of_the_encoder_are_those_of_googles_code(
    folder, one_hot, dtype, version_name
):
    encoded, _, _ = compute_forward_pass(folder, one_hot, dtype, version_name)
    check_recorded(folder, dtype, encoded)


@for_each_forward_pass
def test_losses_of_pretraining_are_those_of_googles_code(
    folder, one_hot, dtype, version_name
):
    _, losses, _ = compute_forward_pass(folder, one_hot, dtype, version_name)
    parts = {name: losses[name] for name in losses if name != "total"}
    check_recorded(folder, dtype, parts)
    assert np.isclose(losses["total"], sum(map(float, parts.values())))


@for_each_forward_pass
def test_log_probabilities_of_the_heads_are_those_of_googles_code(
    folder, one_hot, dtype, version_name
):
    _, _, heads = compute_forward_pass(folder, one_hot, dtype, version_name)
    check_recorded(folder, dtype, heads)


@pytest.mark.parametrize("folder", MODELS)
def test_every_recorded_output_is_compared(folder):
    encoded, losses, heads = compute_forward_pass(
        folder, one_hot=False, dtype="float32", version_name="plain"
    )
    compared = (encoded.keys() | losses.keys() | heads.keys()) - {"total"}
    assert load_arrays(folder, "forward.npz", "out/").keys() == compared


@pytest.mark.parametrize("gradient_checkpointing", [False, True])
@pytest.mark.parametrize("folder", MODELS)
def test_gradients_are_those_of_googles_code(
    folder, gradient_checkpointing, version
):
    features = load_arrays(folder, "forward.npz", "in/")
    expected = load_arrays(folder, "gradients.npz")
    model = create_model(
        folder,
        BertPretrainer,
        dtype="float64",
        gradient_checkpointing=gradient_checkpointing,
    )
    actual = golden.pretraining_gradients(model, features, version)
    assert actual.keys() == expected.keys()
    for name, gradient in actual.items():
        assert largest_difference(gradient, expected[name]) < 1e-8, name


@pytest.mark.parametrize(
    ("task", "keras_class", "loss"),
    [
        ("classifier", BertClassifier, ClassifierLoss()),
        ("squad", BertSpanLabeler, SpanLoss()),
    ],
)
@pytest.mark.parametrize("folder", MODELS)
def test_the_loss_of_a_task_is_that_of_googles_code(
    folder, task, keras_class, loss
):
    steps, expected, head = (
        load_arrays(folder, f"{task}_steps.npz", f"{part}/")
        for part in ("in", "out", "init")
    )
    features = {name: values[0] for name, values in steps.items()}
    sizes = [len(head["output_bias"])] if task == "classifier" else []
    model = create_model(
        folder, keras_class, *sizes, extra=head, dtype="float64"
    )
    with tf.GradientTape() as tape:
        outputs = model(features)
        total, _ = loss(outputs, features)
    outputs = outputs if task == "squad" else {"logits": outputs}
    for name, value in {**outputs, "loss": total}.items():
        assert largest_difference(value, expected[name]) < 1e-7, name
    # The global norm of Google's code counts these slices one by one.
    words = model.bert.embeddings.word_embeddings
    assert isinstance(tape.gradient(total, words.value), tf.IndexedSlices)


@pytest.mark.slow
def test_the_network_without_its_faster_versions_has_the_same_outputs(tmp_path):
    for folder in (*source_files.PACKAGES, "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "modeling" / "accelerated")
    done = fresh_process.run(
        "-m",
        "pytest",
        "-m",
        "not soak",
        "-k",
        "plain or classifier or squad",
        "-p",
        "no:cacheprovider",
        "tests/modeling/test_task_models_golden.py",
        cwd=tmp_path,
        PYTHONPATH="",
        # Of the recordings, those in tests/ are enough.
        BERT_GOLDEN_DIR="",
    )
    *_, last = done.check().stdout.splitlines()
    assert " passed" in last
    assert "skipped" not in last
