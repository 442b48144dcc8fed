"""Trains, evaluates and predicts the sets of a task with its model."""

import math
from collections.abc import Mapping
from typing import Generic

from data.arrays import Batches, OutputsT
from data.sets.set_names import SetName
from model_folders.scores import Evaluation, Scores, merge_scores
from training.config.fine_tuning_config import FineTuningConfig
from training.config.training_config import NumSteps
from training.fine_tuning.dev_set_scores import score_dev_set
from training.fine_tuning.encoded_sets import select_sets
from training.loop.batch_predictor import BatchPredictor
from training.loop.best_step_callback import BestStepCallback, BestStepRule
from training.loop.callbacks import Callback
from training.loop.once_per_step import evaluate_once_per_step
from training.loop.trainer import Trainer
from training.task import ContextT, EncodedSet, ExampleT, FineTuningTask


class FineTuner(Generic[ExampleT, ContextT, OutputsT]):
    """Trains a task, evaluates its dev sets, and predicts its test sets.

    Args:
        task: the task to train.
        encoded_sets: the sets of the command.
        trainer: the Trainer of the task's model. It has restored or loaded the
            weights that the command starts from.

    Attributes:
        run_folder: folder of the run.
        run_weights: the weights of the run, with the step that they are of.

    Each argument is an attribute too.
    """

    def __init__(
        self,
        task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
        encoded_sets: Mapping[SetName, EncodedSet[ExampleT, ContextT]],
        trainer: Trainer,
    ) -> None:
        self.task = task
        self.encoded_sets = encoded_sets
        self.trainer = trainer
        self._config = task.config
        self.run_folder = trainer.run_folder
        self.run_weights = trainer.run_weights
        self._predictor: BatchPredictor[OutputsT] = BatchPredictor(
            trainer.model, jit_compile=task.config.devices.jit_compile
        )
        self._first_step = self.run_weights.global_step
        self._output_dir = str(self.run_folder.output_dir)
        self._evaluate_once = evaluate_once_per_step(
            self.run_weights, self._evaluate_step
        )

    @property
    def has_trained(self) -> bool:
        """Whether this command has changed the weights."""
        return self.run_weights.global_step != self._first_step

    @property
    def dev_sets(self) -> list[EncodedSet[ExampleT, ContextT]]:
        """The sets to evaluate, [] if the command reads none."""
        return select_sets(self.encoded_sets, self.task.dev_sets)

    @property
    def test_sets(self) -> list[EncodedSet[ExampleT, ContextT]]:
        """The sets to predict, [] if the command reads none."""
        return select_sets(self.encoded_sets, self.task.test_sets)

    def train(self, num_steps: NumSteps) -> None:
        """Trains, then restores the best step's weights if the flags say so.

        Raises:
            TrainingStopped: a signal ended the training.
        """
        config = self._config
        callbacks: list[Callback] = []
        if config.keeps_best:
            metric = config.fine_tuning.metric_for_best
            rule = BestStepRule(
                interval=num_steps.between_evaluations,
                metric=metric or self.task.scoring.main_metric,
                patience=config.fine_tuning.early_stopping_patience,
            )
            best_step_callback = BestStepCallback(
                self.run_weights,
                self.run_folder,
                evaluate=self.evaluate_dev_sets,
                rule=rule,
                num_train_steps=num_steps.training,
            )
            callbacks.append(best_step_callback)
        self.trainer.fit(
            self.encoded_sets["train"].records,
            num_steps.training,
            callbacks,
            epochs=config.fine_tuning.num_train_epochs,
        )
        if config.keeps_best and config.loads_best:
            self.run_weights.restore_best()

    def evaluate_dev_sets(self) -> Evaluation:
        """Evaluates the weights on the dev sets, once for each step."""
        return self._evaluate_once()

    def _evaluate_step(self) -> Evaluation:
        scores = [
            score_dev_set(
                self.task,
                dev_set,
                self._predict_dev_set(dev_set, "Evaluating"),
                loss=self.task.scoring.eval_loss,
            )
            for dev_set in self.dev_sets
        ]
        return Evaluation(self.run_weights.global_step, merge_scores(*scores))

    def write_dev_files(self) -> None:
        """Writes the files of predictions and reports about the dev sets.

        Predicts each set again, although `evaluate_dev_sets` has predicted it.
        To keep the outputs of all records until this method writes them would
        need too much memory.
        """
        for dev_set in self.dev_sets:
            self.task.write_dev_files(
                dev_set,
                self._predict_dev_set(dev_set, "Reporting"),
                self._output_dir,
            )

    def write_and_score_predictions(
        self, test_set: EncodedSet[ExampleT, ContextT]
    ) -> Scores:
        """Writes the predictions of a set, and scores them if it can.

        Returns:
            scores of the predictions, which are empty if the right answers are
            unknown.
        """
        config = self._config
        batches = self._predict(
            test_set, config.fine_tuning.predict_batch_size, "Predicting"
        )
        return self.task.write_and_score_predictions(
            test_set, batches, self._output_dir
        )

    def _predict_dev_set(
        self, dev_set: EncodedSet[ExampleT, ContextT], description: str
    ) -> Batches[OutputsT]:
        """Predicts a dev set in batches of --eval_batch_size."""
        return self._predict(dev_set, self._config.eval_batch_size, description)

    def _predict(
        self,
        encoded_set: EncodedSet[ExampleT, ContextT],
        batch_size: int,
        description: str,
    ) -> Batches[OutputsT]:
        """Yields the batches of a set with the model's outputs.

        `description` is the text of the progress bar.
        """
        dataset = encoded_set.create_dataset(
            batch_size, trims_padding=self._config.trims_padding
        )
        num_batches = math.ceil(encoded_set.num_records / batch_size)
        batches = self._predictor.predict(dataset, num_batches, description)
        return self.task.pool(encoded_set, batches)
