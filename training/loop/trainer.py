"""Trains the models of all tasks.

The Trainer does not depend on the task. A model maps a dict of features to
outputs, and a loss (modeling/base_loss.py) maps the outputs to a number.
step_loop.py has the loop, and train_step.py computes and applies the gradients.
"""

from collections.abc import Sequence

import tensorflow as tf
from absl import logging

from data.io import record_datasets
from model_folders.training_settings import TrainingSettings
from modeling.base_task_model import AnyTaskModel
from training.config.training_config import TrainingConfig
from training.loop.callbacks import Callback
from training.loop.ending import TrainingStopped, stop_signals
from training.loop.run_weights import RunWeights
from training.loop.step_loop import StepLoop
from training.loop.summary_callback import SummaryCallback
from training.loop.train_step import TrainStep
from training.run_files.run_folder import RunFolder
from training.starting_point import StartingPoint


class Trainer:
    """Trains one model.

    The number of the step determines the next batch, the learning rate, and
    whether to save or evaluate now. So a resumed run goes on as if it had not
    stopped.

    Args:
        model: the task's model, already built. Its weights are saved.
        starting_point: the flags of the run, and its initial weights.
        run_folder: folder of the run.
        train_step: the training step of the model. None if the model only
            predicts.
        training_settings: settings to record with the weights. If None, the
            Trainer writes no model.json.

    Attributes:
        model, starting_point, run_folder, train_step: the arguments.
        config: the flags, with the batch size, the seed and the devices.
        run_weights: the weights of the run, with the step that they are of.
    """

    def __init__(
        self,
        model: AnyTaskModel,
        starting_point: StartingPoint[TrainingConfig],
        run_folder: RunFolder,
        train_step: TrainStep | None = None,
        *,
        training_settings: TrainingSettings | None = None,
    ) -> None:
        self.model = model
        self.starting_point = starting_point
        self.config = starting_point.config
        self.run_folder = run_folder
        self.train_step = train_step
        self._training_settings = training_settings
        self.run_weights = RunWeights(
            model,
            starting_point,
            run_folder,
            train_step.optimizer if train_step else None,
            train_step.trainable_variables if train_step else (),
        )

    def fit(
        self,
        records: record_datasets.Records,
        num_train_steps: int,
        callbacks: Sequence[Callback] = (),
        *,
        epochs: float | None = None,
    ) -> None:
        """Trains from the current step until something ends the run.

        Training ends at step `num_train_steps`, when a callback decides so
        (`BestStepCallback` out of patience), after --max_hours, at a signal, or
        at an error. For example, a run that was stopped at step 300 and is
        resumed with `num_train_steps` = 1000 trains 700 steps. The last step is
        saved, unless an error ended the training.

        Args:
            records: the records to train on.
            num_train_steps: number of the last step.
            callbacks: run after each step, in this order.
            epochs: number of epochs in all steps, for the log, if known.

        Raises:
            TrainingStopped: a signal ended the training.
            ValueError: the Trainer has no training step. Or too many
                consecutive steps had a non-finite loss or gradient, or a weight
                to save is not finite. Or a user's files in --output_dir
                describe another model.
            tf.errors.ResourceExhaustedError: a device has run out of memory.
            tf.errors.UnavailableError: another worker was lost.
            OSError: a checkpoint could not be written.
        """
        if self.train_step is None:
            raise ValueError("this Trainer was created without a training step")
        loop = self._create_loop(self.train_step, callbacks, num_train_steps)
        reasons = loop.find_reasons_to_end()
        if any(reasons):
            logging.info(
                "Nothing left to do: the run in %s has ended at step %d.",
                self.config.training.output_dir,
                self.run_weights.global_step,
            )
            return
        self.run_weights.begin_training(self._training_settings)
        self._log_sizes(num_train_steps)
        history = self.run_folder.history
        with history.count_hours(), stop_signals() as stop:
            reasons = loop.run(
                self.create_dataset(records), stop, epochs=epochs
            )
        if reasons.is_stopped:
            logging.warning(
                "Stopped after step %d, which is saved. Run the same command "
                "again to resume.",
                self.run_weights.global_step,
            )
            raise TrainingStopped

    def _create_loop(
        self,
        train_step: TrainStep,
        callbacks: Sequence[Callback],
        num_train_steps: int,
    ) -> StepLoop:
        """Creates the loop of the steps, with the flags' own callbacks."""
        config = self.config
        if config.is_chief and config.training.summary_steps:
            summaries = SummaryCallback(
                self.run_folder.history, config, num_train_steps
            )
            callbacks = [*callbacks, summaries]
        return StepLoop(
            train_step,
            self.run_weights,
            self.run_folder,
            config,
            callbacks=callbacks,
            num_train_steps=num_train_steps,
        )

    def create_dataset(
        self, records: record_datasets.Records
    ) -> tf.data.Dataset[dict[str, tf.Tensor]]:
        """Returns the batches of the steps that are left.

        Skips the records of all earlier steps, even of steps without an update.
        The order of records depends only on the seed and the epoch.
        """
        size = self.config.batch_size
        return record_datasets.create_dataset(
            records,
            size,
            is_training=True,
            seed=self.config.training.seed,
            skip_records=self.run_weights.global_step * size,
            trims_padding=self.config.trims_padding,
        )

    def _log_sizes(self, num_train_steps: int) -> None:
        num_params = self.model.count_params()
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.config.batch_size)
        logging.info("  Steps = %d", num_train_steps)
        # A weight, its gradient and the optimizer's m and v are 16 bytes.
        logging.info(
            f"  Parameters = {num_params:,} ({16 * num_params:,} bytes)"
        )
