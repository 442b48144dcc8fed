"""Evaluates a task, and predicts with its model, set by set."""

from data.processors.set_names import suffix_of
from model_folders.scores import Scores
from training.config.fine_tuning_config import FineTuningConfig
from training.flows.encoded_sets import select_sets
from training.loop.best_step import evaluate_once_per_step
from training.loop.prediction import EvalLoss
from training.loop.trainer import Evaluate, Trainer
from training.task import (
    Batches,
    EncodedSet,
    EncodedSets,
    ExampleT,
    OriginT,
    OutputsT,
    Task,
)


def create_fine_tuning_evaluation(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    encoded_sets: EncodedSets[ExampleT, OriginT],
) -> Evaluate:
    """Returns a function (trainer) -> scores on the dev sets.

    The function evaluates the weights of each step only once.
    """

    def evaluate(trainer: Trainer) -> Scores:
        results: Scores = {"global_step": trainer.run_weights.global_step}
        for encoded_set in select_sets(encoded_sets, task.dev_sets):
            suffix = suffix_of(encoded_set.name)
            scores = _evaluate_set(task, trainer, encoded_set)
            results |= {
                f"{name}{suffix}": score for name, score in scores.items()
            }
        return results

    return evaluate_once_per_step(evaluate)


def _evaluate_set(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_set: EncodedSet[ExampleT, OriginT],
) -> Scores:
    batches = predict_set(
        task,
        trainer,
        encoded_set,
        batch_size=task.config.eval_batch_size,
        description="Evaluating",
    )
    if not task.eval_loss:
        return task.evaluate(encoded_set, batches)
    batches_with_loss = EvalLoss(task.eval_loss, batches)
    scores = task.evaluate(encoded_set, batches_with_loss)
    # The loss is complete once the task has read all batches.
    return scores | batches_with_loss.scores()


def predict_set(
    task: Task[FineTuningConfig, ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    encoded_set: EncodedSet[ExampleT, OriginT],
    *,
    batch_size: int,
    description: str,
) -> Batches[OutputsT]:
    """Returns the batches of a set with the model's outputs.

    Args:
        task: pools the windows of an example.
        trainer: holds the weights that predict.
        encoded_set: the set to predict.
        batch_size: number of records in a batch.
        description: text of the progress bar.
    """
    dataset = encoded_set.create_dataset(
        batch_size, trims_padding=task.config.trims_padding
    )
    num_batches = -(-encoded_set.num_records // batch_size)
    batches = trainer.predictor.predict(dataset, num_batches, description)
    return task.pool(encoded_set, batches)
