"""Evaluates a task, and predicts with its model, split by split."""

from data.processors.split_names import Purpose, suffix_of
from model_folders.results import Scores
from training.loop.best_step import evaluate_once_per_step
from training.loop.prediction import EvalLoss
from training.loop.trainer import Evaluate, Trainer
from training.sets.splits import splits_of
from training.task import (
    Batches,
    ExampleT,
    OriginT,
    OutputsT,
    Split,
    Splits,
    Task,
)


def create_fine_tuning_evaluation(
    task: Task[ExampleT, OriginT, OutputsT], splits: Splits[ExampleT, OriginT]
) -> Evaluate:
    """Returns a function (trainer) -> scores on the dev splits.

    The function evaluates the weights of each step only once.
    """

    def evaluate(trainer: Trainer) -> Scores:
        results: Scores = {"global_step": trainer.run_weights.global_step}
        for split in splits_of(task, splits, "eval"):
            suffix = suffix_of(split.name)
            scores = _evaluate_split(task, trainer, split)
            results |= {
                f"{name}{suffix}": score for name, score in scores.items()
            }
        return results

    return evaluate_once_per_step(evaluate)


def _evaluate_split(
    task: Task[ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    split: Split[ExampleT, OriginT],
) -> Scores:
    batches = predict_split(task, trainer, split, "eval", "Evaluating")
    if not task.eval_loss:
        return task.evaluate(split, batches)
    batches_with_loss = EvalLoss(task.eval_loss, batches)
    scores = task.evaluate(split, batches_with_loss)
    # The loss is complete once the task has read all batches.
    return scores | batches_with_loss.scores()


def predict_split(
    task: Task[ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    split: Split[ExampleT, OriginT],
    purpose: Purpose,
    description: str,
) -> Batches[OutputsT]:
    """Returns the batches of a split with the model's outputs.

    Args:
        task: pools the windows of an example.
        trainer: holds the weights that predict.
        split: the records to predict.
        purpose: "eval" or "predict", which selects the batch size.
        description: text of the progress bar.
    """
    size = task.config.batch_size_of(purpose)
    dataset = split.create_dataset(size, trim=task.config.unpads)
    num_batches = -(-split.num_records // size)
    batches = trainer.predict(dataset, num_batches, description)
    return task.pool(split, batches)
