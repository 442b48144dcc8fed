"""Evaluates in both flows: while training, and once more after it.

Each flow has an `Evaluate` of its own, a function that returns the scores of
the current weights.
"""

import copy
from collections.abc import Callable
from typing import TypeVar

from absl import logging

from data.io import record_datasets
from model_folders.scores import Scores
from training.loop.best_step_callback import (
    BestStepCallback,
    BestStepRule,
    Evaluate,
)
from training.loop.callbacks import Callback
from training.loop.run_weights import RunWeights
from training.loop.trainer import Trainer

# What an evaluation returns: scores, alone or with more about the same step.
EvaluatedT = TypeVar("EvaluatedT")


def evaluate_once_per_step(
    run_weights: RunWeights, evaluate: Callable[[], EvaluatedT]
) -> Callable[[], EvaluatedT]:
    """Returns a function like `evaluate` that remembers each step's result.

    The last step of the training is often the one that --do_eval evaluates.

    Args:
        run_weights: the weights that `evaluate` evaluates.
        evaluate: evaluates the current weights.
    """
    result_of_step: dict[int, EvaluatedT] = {}

    def evaluate_new_step() -> EvaluatedT:
        step = run_weights.global_step
        if step not in result_of_step:
            result_of_step[step] = evaluate()
        # A caller may add to its scores.
        return copy.deepcopy(result_of_step[step])

    return evaluate_new_step


def train_and_evaluate(
    trainer: Trainer,
    records: record_datasets.Records,
    num_train_steps: int,
    *,
    evaluate: Evaluate,
    rule: BestStepRule,
    epochs: float | None = None,
) -> None:
    """Trains, and evaluates meanwhile if the flags say so.

    Args:
        trainer: holds the weights to train, and the folder of the run.
        records: the records to train on.
        num_train_steps: number of the last step.
        evaluate: evaluates the current weights.
        rule: when to evaluate, and which step is the best.
        epochs: as in `Trainer.fit`.
    """
    callbacks: list[Callback] = []
    if trainer.config.keeps_best:
        callbacks.append(
            BestStepCallback(
                trainer.run_folder,
                trainer.run_weights,
                evaluate,
                rule,
                num_train_steps=num_train_steps,
            )
        )
    trainer.fit(records, num_train_steps, callbacks, epochs=epochs)


def evaluate_and_write_scores(
    trainer: Trainer, evaluate: Evaluate, dev_set_checksum: int
) -> Scores:
    """Evaluates the trained weights, and writes their scores.

    Args:
        trainer: the Trainer, with the weights to evaluate.
        evaluate: evaluates the current weights.
        dev_set_checksum: checksum of the dev sets.
    """
    logging.info("Evaluating %s", trainer.run_weights.describe())
    scores = evaluate()
    write_dev_scores(trainer, scores, dev_set_checksum)
    return scores


def write_dev_scores(
    trainer: Trainer, scores: Scores, dev_set_checksum: int
) -> None:
    """Writes the scores on the dev sets to the history and eval_results.txt.

    Args:
        trainer: the Trainer, with the weights that were scored.
        scores: all scores of the dev sets in this command.
        dev_set_checksum: checksum of the dev sets.
    """
    run_folder = trainer.run_folder
    if run_folder.best_step.is_comparable(dev_set_checksum):
        run_folder.history.add_evaluation(
            trainer.run_weights.global_step,
            scores,
            dev_set_checksum=dev_set_checksum,
        )
    run_folder.results.write_dev_scores(scores)
