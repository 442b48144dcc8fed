"""Peak memory, each measured in a process of its own."""

import pytest

from tests import golden

# Linux counts ru_maxrss in KiB.
PEAK = """
import resource

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""


STEP = """
import numpy as np
import tensorflow as tf
from modeling import BertClassifier, BertConfig
from modeling.losses import ClassifierLoss

config = BertConfig(
    vocab_size=1000, hidden_size=128, num_hidden_layers=24,
    num_attention_heads=4, intermediate_size=512)
model = BertClassifier(config, 2, seed=1, gradient_checkpointing={})
model.build()
features = {{
    "input_ids": np.ones((2, 512), "int32"),
    "label_ids": np.array([0, 1], "int32"),
}}

@tf.function
def step():
    with tf.GradientTape() as tape:
        outputs = model(features, training=True)
        total, _ = ClassifierLoss()(outputs, features)
    gradients = tape.gradient(total, model.trainable_variables)
    return tf.linalg.global_norm(gradients)

before = peak()
norm = step()
print(peak() - before, float(norm))
"""


def run(program, folder):
    shown = golden.run_python("-c", PEAK + program, cwd=folder)
    return [float(word) for word in shown.split()]


@pytest.mark.soak
def test_gradient_checkpointing_halves_the_memory(tmp_path):
    memory, norm = run(STEP.format(False), tmp_path)
    checkpointed_memory, checkpointed_norm = run(STEP.format(True), tmp_path)
    assert checkpointed_memory < 0.5 * memory
    assert checkpointed_norm == pytest.approx(norm, rel=1e-5)
