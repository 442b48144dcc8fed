"""The best step on its own."""

import numpy as np

from tests.training.pair import batches, create_trainer, fit
from training import checkpointing
from training.callbacks.best_step import BestStep


def best_step(trainer, values, patience=0):
    """Evaluates to one value after the other, once a step."""
    values = iter(values)
    return BestStep(
        trainer,
        lambda trainer: {"pearson": next(values), "loss": float("nan")},
        1,
        "pearson",
        patience,
    )


def test_the_last_steps_are_evaluated_too(tmp_path):
    evaluated = []

    def evaluate(trainer):
        evaluated.append(trainer.global_step)
        return {"pearson": float(trainer.global_step)}

    trainer = create_trainer(output_dir=tmp_path)
    best = BestStep(trainer, evaluate, 3, "pearson")
    fit(trainer, batches([]), 7, best)
    assert evaluated == [3, 6, 7]
    assert checkpointing.checkpoint_steps(tmp_path / "best") == [7]


def test_an_evaluation_that_is_nan_is_never_the_best(tmp_path):
    values = [np.nan, -0.5, np.nan, 0.0, np.nan, np.nan]
    trainer = create_trainer(output_dir=tmp_path)
    best = best_step(trainer, values, 2)
    fit(trainer, batches([]), 1, best)
    assert not checkpointing.checkpoint_steps(tmp_path / "best")
    fit(trainer, batches([]), 9, best)
    assert trainer.global_step == 6
    assert checkpointing.checkpoint_steps(tmp_path / "best") == [4]
    # A resumed run finds it in the history.
    trainer = create_trainer(output_dir=tmp_path)
    trainer.restore_or_load()
    assert best_step(trainer, [], 2).has_ended(6)
