"""Trains, evaluates and predicts the sets of a task with its model."""

from collections.abc import Iterator
from typing import Any, Generic, TypeAlias

import numpy as np

from data.arrays import Batch
from data.sets.set_names import suffix_of
from model_folders.scores import Scores
from modeling.base_loss import Loss
from training.flows.encoded_sets import select_sets
from training.loop.best_step_callback import (
    BestStepRule,
    evaluate_once_per_step,
    train_and_evaluate,
)
from training.loop.trainer import Trainer
from training.task import (
    Batches,
    EncodedSet,
    EncodedSets,
    ExampleT,
    FineTuningTask,
    OriginT,
    OutputsT,
)


class FineTuner(Generic[ExampleT, OriginT, OutputsT]):
    """Trains a task, evaluates its dev sets, and predicts its test sets.

    Args:
        task: the task to train.
        encoded_sets: the sets of the command.
        trainer: the Trainer of the task's model. It has restored or loaded the
            weights that the command starts from.
        dev_set_checksum: checksum of the dev sets, 0 without one.

    Each argument is an attribute too.
    """

    def __init__(
        self,
        task: FineTuningTask[ExampleT, OriginT, OutputsT],
        encoded_sets: EncodedSets[ExampleT, OriginT],
        trainer: Trainer,
        *,
        dev_set_checksum: int,
    ) -> None:
        self.task = task
        self.encoded_sets = encoded_sets
        self.trainer = trainer
        self.dev_set_checksum = dev_set_checksum
        self._first_step = trainer.run_weights.global_step
        self._evaluate_once = evaluate_once_per_step(
            trainer.run_weights, self._evaluate_dev_sets
        )

    @property
    def has_trained(self) -> bool:
        """Whether this command has changed the weights."""
        return self.trainer.run_weights.global_step != self._first_step

    @property
    def dev_sets(self) -> list[EncodedSet[ExampleT, OriginT]]:
        """The sets to evaluate, [] if the command reads none."""
        return select_sets(self.encoded_sets, self.task.dev_sets)

    @property
    def test_sets(self) -> list[EncodedSet[ExampleT, OriginT]]:
        """The sets to predict, [] if the command reads none."""
        return select_sets(self.encoded_sets, self.task.test_sets)

    def train(self, num_train_steps: int) -> None:
        """Trains, then restores the best step's weights if the flags say so.

        Args:
            num_train_steps: number of the last step.

        Raises:
            SystemExit: a signal stopped the training.
        """
        config = self.task.config
        train_set = self.encoded_sets["train"]
        rule = BestStepRule(
            interval=max(train_set.num_records // config.batch_size, 1),
            metric=config.fine_tuning.metric_for_best or self.task.metrics[0],
            patience=config.fine_tuning.early_stopping_patience,
            dev_set_checksum=self.dev_set_checksum,
        )
        train_and_evaluate(
            self.trainer,
            train_set.records,
            num_train_steps,
            evaluate=self.evaluate,
            rule=rule,
            epochs=config.fine_tuning.num_train_epochs,
        )
        if config.keeps_best and config.loads_best:
            self.trainer.run_weights.restore_best()

    def evaluate(self) -> Scores:
        """Returns the scores of the dev sets, and "global_step".

        The weights of each step are evaluated only once.
        """
        return self._evaluate_once()

    def _evaluate_dev_sets(self) -> Scores:
        results: Scores = {"global_step": self.trainer.run_weights.global_step}
        for dev_set in self.dev_sets:
            suffix = suffix_of(dev_set.name)
            scores = self._evaluate_set(dev_set)
            results |= {
                f"{name}{suffix}": score for name, score in scores.items()
            }
        return results

    def _evaluate_set(
        self, encoded_set: EncodedSet[ExampleT, OriginT]
    ) -> Scores:
        batches = self._predict_dev_set(encoded_set, "Evaluating")
        if not self.task.eval_loss:
            return self.task.evaluate(encoded_set, batches)
        batches_with_loss = LossAccumulator(self.task.eval_loss, batches)
        scores = self.task.evaluate(encoded_set, batches_with_loss)
        return scores | batches_with_loss.scores()

    def write_reports(self) -> None:
        """Writes the task's files about the dev sets.

        Raises:
            OSError: a file cannot be written.
        """
        for dev_set in self.dev_sets:
            self.task.write_report(
                dev_set,
                self._predict_dev_set(dev_set, "Reporting"),
                str(self.trainer.run_folder.path),
            )

    def write_and_score_predictions(
        self, test_set: EncodedSet[ExampleT, OriginT]
    ) -> Scores:
        """Writes the predictions of a set, and scores them if it can.

        Returns:
            their scores, {} if the right answers are unknown.

        Raises:
            OSError: a file cannot be written.
        """
        return self.task.write_and_score_predictions(
            test_set,
            self._predict(
                test_set,
                self.task.config.fine_tuning.predict_batch_size,
                "Predicting",
            ),
            str(self.trainer.run_folder.path),
        )

    def _predict_dev_set(
        self, dev_set: EncodedSet[ExampleT, OriginT], description: str
    ) -> Batches[OutputsT]:
        """Predicts in the batches of evaluation, see `_predict`."""
        return self._predict(
            dev_set, self.task.config.eval_batch_size, description
        )

    def _predict(
        self,
        encoded_set: EncodedSet[ExampleT, OriginT],
        batch_size: int,
        description: str,
    ) -> Batches[OutputsT]:
        """Yields the batches of a set with the model's outputs.

        Args:
            encoded_set: the set to predict.
            batch_size: number of records in a batch.
            description: text of the progress bar.
        """
        dataset = encoded_set.create_dataset(
            batch_size, trims_padding=self.task.config.trims_padding
        )
        num_batches = -(-encoded_set.num_records // batch_size)
        batches = self.trainer.predictor.predict(
            dataset, num_batches, description
        )
        return self.task.pool(encoded_set, batches)


# For functions that read none of its examples, origins and outputs.
AnyFineTuner: TypeAlias = FineTuner[Any, Any, Any]


class LossAccumulator(Generic[OutputsT]):
    """Adds up the loss of evaluation batches while they are iterated over.

    Iterate over the batches once, and then call `scores`.
    """

    def __init__(
        self, loss: Loss[OutputsT], batches: Batches[OutputsT]
    ) -> None:
        self._loss = loss
        self._unread = iter(batches)
        # {name of a loss term: [(sum, divisor) of each batch]}.
        self._parts: dict[str, list[tuple[float, float]]] = {}

    def __iter__(self) -> Iterator[Batch[OutputsT]]:
        """Yields the batches unchanged."""
        for features, outputs in self._unread:
            sums = self._loss.sums(outputs, features)
            divisors = self._loss.divisors(features)
            for name, value in sums.items():
                pair = float(value), float(divisors[name])
                self._parts.setdefault(name, []).append(pair)
            yield features, outputs

    def scores(self) -> Scores:
        """Returns {"eval_loss": mean loss of all examples}.

        The mean loss is the sum of the means of its terms, such as the masked
        LM loss. Without a batch, it is NaN. Reads the batches that nobody has
        read so far.
        """
        for _ in self:
            pass
        total = 0.0 if self._parts else float("nan")
        for pairs in self._parts.values():
            sums, divisors = np.array(pairs).T
            # `Loss.means` adds Google's epsilon, for batches of the training.
            # The mean over a set is exact, and 0 without any weight.
            total += float(sums.sum() / max(divisors.sum(), 1.0))
        return {"eval_loss": total}
