"""The loop's own promises, on a model of two numbers."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from modeling.checkpoints import tf1
from tests import events
from tests.training.pair import (
    Pair,
    Sum,
    batches,
    create_config,
    create_trainer,
    fit,
)
from training import checkpointing
from training.callbacks.best_step import BestStep
from training.callbacks.endings import TimeLimit
from training.callbacks.history import History
from training.callbacks.progress import Summaries
from training.optimizers import optimization
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
    trainer = Trainer(model, None, None, config)
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


class SumOfProducts(Sum):
    """Without the root, whose gradient XLA makes not finite."""

    def sums(self, outputs, features):
        return {"part": tf.reduce_sum(outputs[0])}


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("clip_norm", [1.0, 0.25])
def test_optimizers_of_keras_train(jit_compile, clip_norm):
    optimizer = keras.optimizers.SGD(0.1)
    config = create_config(jit_compile=jit_compile, clip_norm=clip_norm)
    trainer = Trainer(Pair(), SumOfProducts(), optimizer, config)
    fit(trainer, batches([1]), 2)
    assert float(trainer.model.one) == pytest.approx(1 - 2 * 0.1 * clip_norm)
    assert trainer.step == 2


def test_options_of_keras_optimizers_are_kept():
    def train(**options):
        optimizer = optimization.AdamWeightDecayOptimizer(
            0.1, epsilon=1.0, aggregate_gradients=False, **options
        )
        trainer = Trainer(Pair(), Sum(), optimizer, create_config())
        fit(trainer, batches([1]), 2)
        return trainer

    plain = train()
    assert plain.optimizer.can_apply_scaled
    # As far as Adam gets with a gradient of 0.5: see its docstring.
    for option in ("clipnorm", "clipvalue", "global_clipnorm"):
        m1, m2 = 0.05, 0.05 * 0.9 + 0.05
        v1 = 0.001 * 0.25
        v2 = v1 * 0.999 + v1
        moved = 0.1 * (m1 / (v1**0.5 + 1) + m2 / (v2**0.5 + 1))
        clipped = train(**{option: 0.5}).model.one
        assert float(clipped) == pytest.approx(1 - moved)
        assert float(plain.model.one) < float(clipped)
    decayed = train(weight_decay=0.1)
    assert float(decayed.model.one) < float(plain.model.one)
    averaged = train(use_ema=True, ema_momentum=0.5)
    assert float(averaged.model.one) == float(plain.model.one)
    averaged.optimizer.finalize_variable_values([averaged.model.one])
    assert float(plain.model.one) < float(averaged.model.one) < 1


def test_a_checkpoint_that_is_not_finite_is_passed_over(tmp_path, caplog):
    trainer = create_trainer(output_dir=tmp_path)
    checkpointer = trainer.checkpointer
    fit(trainer, batches([1]), 2)
    trainer.model.one.assign(np.nan)
    tf1.write_checkpoint(checkpointer.path(3), checkpointer._variables)
    assert checkpointer.restore() == 2
    assert np.isfinite(float(trainer.model.one))
    assert "model.ckpt-3 is damaged: pair/one is not finite" in caplog.text


@pytest.mark.parametrize("at_once", [1, 4, 100])
def test_no_callback_is_jumped_over(at_once, tmp_path):
    evaluated = []

    def evaluate(trainer):
        evaluated.append(trainer.step)
        return {"figure": -len(evaluated)}

    changes = {"summary_steps": 5, "trim_padding": True}
    config = create_config(tmp_path, **changes)
    trainer = create_trainer(
        output_dir=tmp_path,
        save_checkpoints_steps=6,
        **changes,
        at_once=at_once,
        callbacks=[
            History(config, TimeLimit()),
            Summaries(),
            BestStep(evaluate, 7, "figure", tmp_path / "best", patience=2),
        ],
    )
    fit(trainer, batches([]), 50)
    # The first is the best, and two more are waited for.
    assert evaluated == [7, 14, 21]
    assert checkpointing.checkpoint_steps(tmp_path) == [6, 12, 18, 21]
    assert checkpointing.checkpoint_steps(tmp_path / "best") == [7]
    best = json.loads((tmp_path / "best" / "eval_results.json").read_text())
    assert best == {"figure": -1, "global_step": 7, "fingerprint": {}}
    shown = events.entries(tmp_path, "scalars")
    assert [s for s, x in shown if x.tag == "loss"] == [5, 10, 15, 20]
