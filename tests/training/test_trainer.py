"""The loop's own promises, on a model of two numbers."""

import numpy as np
import pytest
import tensorflow as tf

from tests import events
from tests.training.pair import (
    Pair,
    batches,
    create_config,
    create_trainer,
    fit,
)
from training import checkpointing
from training.callbacks.best_step import BestStep
from training.callbacks.summaries import Summaries
from training.trainer import Trainer


def test_outputs_that_are_nan_are_reported_once(caplog):
    trainer = create_trainer()
    dataset = batches([1, np.nan, 1, np.nan]).take(5)
    assert len(list(trainer.predict(dataset))) == 5
    logged = [r.message for r in caplog.records if "NaN" in r.message]
    assert len(logged) == 1
    assert "from batch 2 on" in logged[0]


class Counting(Pair):
    """Counts its calls: one for each time that a graph of it is traced."""

    feature_ranks = {"factor": 1, "zero": 1}

    def __init__(self):
        super().__init__()
        self.calls = 0

    def call(self, features, training=None, seed=None):
        self.calls += 1
        return super().call(features, training, seed)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_all_batches_that_are_predicted_share_a_graph(jit_compile):
    model = Counting()
    config = create_config(jit_compile=jit_compile)
    trainer = Trainer(model, config)
    features = {"factor": np.arange(7.0, dtype="float32"), "zero": np.ones(7)}
    labels = {"label_ids": np.arange(7), "guid": ["a"] * 7}
    # Splits with and without labels; the last batches are smaller.
    for given, size in ((features | labels, 3), (features, 2)):
        dataset = tf.data.Dataset.from_tensor_slices(given).batch(size)
        found = [*trainer.predict(dataset)]
        assert all(set(batch) == set(given) for batch, _ in found)
        products = np.concatenate([outputs[0] for _, outputs in found])
        np.testing.assert_array_equal(products, features["factor"])
    assert model.calls == 1


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_no_callback_is_jumped_over(at_once, tmp_path):
    evaluated = []

    def evaluate(trainer):
        evaluated.append(trainer.global_step)
        return {"figure": -len(evaluated)}

    trainer = create_trainer(
        output_dir=tmp_path,
        save_checkpoints_steps=6,
        summary_steps=5,
        trim_padding=True,
        at_once=at_once,
    )
    best = BestStep(trainer, evaluate, 7, "figure", patience=2)
    fit(trainer, batches([]), 50, best, Summaries(trainer, (0, 0)))
    # The first is the best, and two more are waited for.
    assert evaluated == [7, 14, 21]
    assert checkpointing.checkpoint_steps(tmp_path) == [6, 12, 18, 21]
    assert checkpointing.checkpoint_steps(tmp_path / "best") == [7]
    assert trainer.history.best() == {"figure": -1, "global_step": 7}
    assert [*events.scalars(tmp_path)["loss"]] == [5, 10, 15, 20]
