"""Trains with evaluations, which fine-tuning and pretraining share."""

from collections.abc import Callable
from typing import TypeVar

from data.io import record_datasets
from training.loop.best_step_callback import BestStepCallback, Evaluate
from training.loop.callbacks import Callback
from training.loop.run_weights import RunWeights
from training.loop.trainer import Trainer
from training.run_files.best_step import BestStepRule

EvaluationT = TypeVar("EvaluationT")


def evaluate_once_per_step(
    run_weights: RunWeights, evaluate: Callable[[], EvaluationT]
) -> Callable[[], EvaluationT]:
    """Returns a function that evaluates the weights of each step only once.

    The last step of the training is often the one that --do_eval evaluates.

    Args:
        run_weights: the weights, which know their step.
        evaluate: evaluates the current weights.
    """
    evaluation_of_step: dict[int, EvaluationT] = {}

    def evaluate_new_step() -> EvaluationT:
        step = run_weights.global_step
        if step not in evaluation_of_step:
            evaluation_of_step[step] = evaluate()
        return evaluation_of_step[step]

    return evaluate_new_step


def train_and_evaluate(
    trainer: Trainer,
    records: record_datasets.Records,
    num_train_steps: int,
    *,
    evaluate: Evaluate,
    rule: BestStepRule | None,
    epochs: float | None = None,
) -> None:
    """Trains, and saves the weights of the best step on the way.

    Args:
        trainer: the Trainer of the model.
        records: the records to train on.
        num_train_steps: number of the last step.
        evaluate: evaluates the current weights.
        rule: when to evaluate, and which step is the best. None trains without
            evaluations.
        epochs: number of epochs in all steps, for the log, if known.
    """
    callbacks: list[Callback] = []
    if rule:
        best_step_callback = BestStepCallback(
            trainer.run_folder,
            trainer.run_weights,
            evaluate,
            rule,
            num_train_steps=num_train_steps,
        )
        callbacks.append(best_step_callback)
    trainer.fit(records, num_train_steps, callbacks, epochs=epochs)
