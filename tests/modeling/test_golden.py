"""The network against recordings of the original code."""

import dataclasses
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling import BertClassifier, BertConfig, BertPretrainer, BertSpanLabeler
from modeling.checkpoints.names import original_name
from modeling.losses import ClassifierLoss, PretrainingLoss, SpanLoss
from tests import golden

MODELS = golden.paths("models/*")


def load(folder, name, prefix=""):
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


def create(folder, model_class, *args, extra=None, **kwargs):
    """Returns a model with the folder's weights and those of `extra`."""
    # Without dropout, as the recordings were made, in training too.
    config = dataclasses.replace(
        BertConfig.from_json_file(folder / "bert_config.json"),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = model_class(config, *args, **kwargs)
    model.build()
    reader = tf.train.load_checkpoint(str(folder / "bert_model.ckpt"))
    for variable in model.weights:
        name = original_name(variable)
        in_extra = extra is not None and name in extra
        variable.assign(extra[name] if in_extra else reader.get_tensor(name))
    return model


def log_softmax(logits):
    logits = keras.ops.convert_to_numpy(logits)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def largest_difference(left, right):
    left, right = map(keras.ops.convert_to_numpy, (left, right))
    assert left.shape == right.shape
    return np.abs(left - right).max()


@pytest.fixture(params=golden.FORMS)
def form(request):
    with golden.form(request.param) as form:
        yield form


@pytest.mark.backends
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "one_hot", [False, pytest.param(True, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("folder", MODELS)
def test_forward(folder, one_hot, dtype, form):
    features = load(folder, "forward.npz", "in/")
    expected = load(folder, "forward.npz", "out/")
    model = create(
        folder, BertPretrainer, use_one_hot_embeddings=one_hot, dtype=dtype
    )
    encoded, outputs = form.run(
        lambda: (
            model.bert(features, training=form.training),
            model(features, training=form.training),
        )
    )
    for index, layer in enumerate(encoded.pop("all_encoder_layers")):
        encoded[f"encoder_layer_{index}"] = layer
    for name, value in encoded.items():
        assert largest_difference(value, expected.pop(name)) < 1e-4, name

    total, losses = PretrainingLoss()(outputs, features)
    masked_lm_log_probs = log_softmax(outputs["masked_lm_logits"])
    masked_lm_log_probs = masked_lm_log_probs.reshape(
        -1, masked_lm_log_probs.shape[-1]
    )
    rows = np.arange(len(masked_lm_log_probs))
    actual = {
        **losses,
        "masked_lm_log_probs": masked_lm_log_probs,
        "masked_lm_example_loss": -masked_lm_log_probs[
            rows, features["masked_lm_ids"].reshape(-1)
        ],
        "next_sentence_log_probs": log_softmax(outputs["next_sentence_logits"]),
    }
    for name, value in actual.items():
        assert largest_difference(value, expected.pop(name)) < 1e-4, name
    assert not expected, "recorded, but not compared"
    total = float(total)
    assert np.isclose(total, sum(map(float, losses.values())))


@pytest.mark.parametrize("gradient_checkpointing", [False, True])
@pytest.mark.parametrize("folder", MODELS)
def test_gradients(folder, gradient_checkpointing, form):
    features = load(folder, "forward.npz", "in/")
    expected = load(folder, "gradients.npz")
    model = create(
        folder,
        BertPretrainer,
        dtype="float64",
        gradient_checkpointing=gradient_checkpointing,
    )
    actual = golden.pretraining_gradients(model, features, form)
    assert actual.keys() == expected.keys()
    for name, gradient in actual.items():
        assert largest_difference(gradient, expected[name]) < 1e-8, name


def first_batch(folder, name):
    steps = load(folder, name, "in/")
    return {key: value[0] for key, value in steps.items()}


@pytest.mark.parametrize("folder", MODELS)
def test_classifier(folder):
    features = first_batch(folder, "classifier_steps.npz")
    expected = load(folder, "classifier_steps.npz", "out/")
    head = load(folder, "classifier_steps.npz", "init/")
    model = create(
        folder,
        BertClassifier,
        len(head["output_bias"]),
        extra=head,
        dtype="float64",
    )
    with tf.GradientTape() as tape:
        logits = model(features)
        total, _ = ClassifierLoss()(logits, features)
    assert largest_difference(logits, expected["logits"]) < 1e-7
    assert largest_difference(total, expected["loss"]) < 1e-7
    # The original's global norm counts these slices one by one.
    words = model.bert.embeddings.word_embeddings
    assert isinstance(tape.gradient(total, words.value), tf.IndexedSlices)


@pytest.mark.parametrize("folder", MODELS)
def test_span_labeler(folder):
    features = first_batch(folder, "squad_steps.npz")
    expected = load(folder, "squad_steps.npz", "out/")
    head = load(folder, "squad_steps.npz", "init/")
    model = create(folder, BertSpanLabeler, extra=head, dtype="float64")
    outputs = model(features)
    total, _ = SpanLoss()(outputs, features)
    for name, value in {**outputs, "loss": total}.items():
        assert largest_difference(value, expected[name]) < 1e-7, name


@pytest.mark.slow
def test_the_network_is_the_same_without_its_faster_forms(tmp_path):
    for folder in ("modeling", "files", "tests"):
        shutil.copytree(golden.ROOT / folder, tmp_path / folder)
    shutil.copy(golden.ROOT / "pyproject.toml", tmp_path)
    shutil.rmtree(tmp_path / "modeling" / "accelerated")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/modeling/test_golden.py"]
        + ["-p", "no:cacheprovider", "-m", "not soak"]
        + ["-k", "plain or classifier or span"],
        cwd=tmp_path,
        # Of the recordings, those in tests/ are enough.
        env={"TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 passed" in done.stdout
