"""Weights that are packed once: the same answers, in a process of its own."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import modeling
import serving
from tests.conftest import TINY
from tests.golden import ROOT
from tests.serving.conftest import TEXTS

FROZEN = "TF_ONEDNN_ASSUME_FROZEN_WEIGHTS"
# Loads the models named by its arguments, and prints whether weights are
# packed and what each answers.
SCRIPT = f"""
import json, os, sys
import serving
found = []
for path in sys.argv[1:]:
    bert = serving.load(path)
    bert.pack_weights()
    found.append([bert.classify({TEXTS[:3]!r}), bert.classify({TEXTS[:1]!r})])
print(json.dumps([os.environ.get("{FROZEN}"), found]))
"""
CONFIG = modeling.BertConfig.from_dict(
    TINY | {"num_hidden_layers": 1, "initializer_range": 0.3}
)


def export(folder, dtype, seed):
    """Exports a classifier with initial weights of a seed; returns it."""
    keras.utils.set_random_seed(seed)
    model = modeling.BertClassifier(CONFIG, 3, dtype=dtype)
    model.build()
    options = serving.ServingOptions(
        ROOT / "samples/vocab.txt", max_seq_length=32
    )
    serving.export_classifier(folder, model, ["a", "b", "c"], options)
    return model


def stored(path):
    """Returns the dtypes of an export's variables."""
    reader = tf.train.load_checkpoint(str(path / "variables/variables"))
    return [*reader.get_variable_to_dtype_map().values()]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """{folder: the model in bfloat16 that was exported there}."""
    folder = tmp_path_factory.mktemp("packing")
    return {
        folder / str(seed): export(folder / str(seed), "mixed_bfloat16", seed)
        for seed in range(2)
    }


def test_kernels_are_exported_in_the_dtype_they_are_computed_in(models):
    path, model = next(iter(models.items()))
    kernels = [v for v in model.weights if v.path.endswith("/kernel")]
    dtypes = stored(path)
    assert dtypes.count(tf.bfloat16) == len(kernels) == 7
    # And the model's other weights, as they are trained.
    assert dtypes.count(tf.float32) == len(model.weights) - len(kernels)
    features = {
        "input_ids": np.arange(40, dtype="int32").reshape(2, 20),
        "input_mask": np.ones((2, 20), "int32"),
        "segment_ids": np.zeros((2, 20), "int32"),
    }
    logits = tf.function(lambda: tf.cast(model(features), tf.float32))()
    exported = tf.saved_model.load(path)
    np.testing.assert_array_equal(
        exported.signatures["serve"](**features)["probabilities"],
        tf.nn.softmax(logits),
    )


def test_weights_in_float32_are_exported_once(served, export_folder):
    model = served["uncased"]["classifier"].model
    dtypes = stored(export_folder / "uncased" / "classifier")
    assert dtypes.count(tf.float32) == len(model.weights)


def answer_packed(*paths):
    environment = {k: v for k, v in os.environ.items() if k != FROZEN}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *paths],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_packed_weights_give_the_same_answers(models):
    expected = []
    for path in models:
        bert = serving.load(path)
        expected.append([bert.classify(TEXTS[:3]), bert.classify(TEXTS[:1])])
    assert FROZEN not in os.environ
    frozen, found = answer_packed(*models)
    assert frozen == "1"
    flat = [
        [list(one["probabilities"].values()) for call in calls for one in call]
        for calls in (*expected, *found)
    ]
    np.testing.assert_allclose(flat[2:], flat[:2], atol=0.02)
    # Each model has its own weights.
    assert np.abs(np.subtract(flat[0], flat[1])).max() > 0.05


def test_weights_in_float32_are_not_packed(served, export_folder, monkeypatch):
    monkeypatch.delenv(FROZEN, raising=False)
    serving.load(export_folder / "uncased" / "classifier").pack_weights()
    assert FROZEN not in os.environ
