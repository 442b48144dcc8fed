"""Weights that are packed once: the same answers, in a process of its own."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest

import modeling
import serving
from data.text.tokenization import FullTokenizer
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


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Returns the folders of two models in bfloat16."""
    folder = tmp_path_factory.mktemp("packing")
    options = serving.ServingOptions(
        FullTokenizer(ROOT / "examples/samples/vocab.txt"), max_seq_length=32
    )
    for seed in range(2):
        keras.utils.set_random_seed(seed)
        model = modeling.BertClassifier(CONFIG, 3, dtype="mixed_bfloat16")
        model.build()
        serving.export_classifier(
            folder / str(seed), model, ["a", "b", "c"], options
        )
    return [folder / str(seed) for seed in range(2)]


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


def test_weights_in_float32_are_not_packed(export_folder, monkeypatch):
    monkeypatch.delenv(FROZEN, raising=False)
    serving.load(export_folder / "classifier").pack_weights()
    assert FROZEN not in os.environ
