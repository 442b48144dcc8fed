"""Runs the training loop of all tasks.

The loop does not depend on the task. A model maps a dict of features to
outputs, and a loss (modeling/base_loss.py) maps the outputs to a number.
train_step.py computes and applies the gradients.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import tensorflow as tf
from absl import logging

from command_line import progress
from data.io import record_datasets
from model_folders.model_json_types import TrainingSettings
from model_folders.results import Scores
from modeling.base_task_model import AnyTaskModel
from modeling.tensors import Features
from training.config.training_config import TrainingConfig
from training.loop import devices, stopping
from training.loop.callbacks import Callback, Decision, Logs
from training.loop.prediction import BatchPredictor
from training.loop.run_weights import RunWeights
from training.loop.summary_callback import SummaryCallback
from training.loop.train_step import TrainStep
from training.run_files.run_folder import RunFolder

# A function (trainer) -> scores on the dev set.
Evaluate: TypeAlias = "Callable[[Trainer], Scores]"


class _StopReasons(NamedTuple):
    """Why the training ends after a step. All workers agree on it."""

    has_ended: bool
    is_time_over: bool
    is_stopped: bool


class Trainer(BatchPredictor):
    """Trains one model, and predicts with it.

    The number of the step determines the next batch, the learning rate and what
    is due. So a resumed run goes on as if it had not stopped.

    Args:
        model: the task's model, already built. Its weights are saved.
        config: the flags.
        run_folder: folder of the run.
        train_step: the training step of the model. None if the model only
            predicts.
        recorded_settings: settings to record with the weights. None = write no
            model.json.
        dev_set_checksum: checksum of the dev set, 0 without one. The scores of
            dev sets with equal checksums may be compared.

    Attributes:
        model: the model, as given.
        config: the flags.
        run_folder: folder of the run.
        train_step: the training step, None if the model only predicts.
        num_train_steps: number of the step at which training ends.
        run_weights: the weights of the run, with the step that they are of.
        dev_set_checksum: checksum of the dev set, 0 without one.
    """

    def __init__(
        self,
        model: AnyTaskModel,
        config: TrainingConfig,
        run_folder: RunFolder,
        train_step: TrainStep | None = None,
        *,
        recorded_settings: TrainingSettings | None = None,
        dev_set_checksum: int = 0,
    ) -> None:
        super().__init__(model, jit_compile=config.devices.jit_compile)
        self.model: AnyTaskModel = model
        self.config = config
        self.run_folder = run_folder
        self.train_step = train_step
        self.num_train_steps = 0
        self._recorded_settings = recorded_settings
        self.dev_set_checksum = dev_set_checksum
        self.run_weights = RunWeights(model, config, run_folder, train_step)

    def fit(
        self,
        records: record_datasets.Records,
        num_train_steps: int,
        callbacks: Sequence[Callback] = (),
        *,
        epochs: float | None = None,
    ) -> bool:
        """Trains from the current step until something ends the run.

        Training ends at step `num_train_steps`, when a callback decides so
        (`BestStepCallback` out of patience), after --max_hours, at a signal, or
        at an error. For example, a run that was stopped at step 300 and is
        resumed with `num_train_steps` = 1000 trains 700 steps.

        Args:
            records: the records to train on.
            num_train_steps: number of the last step.
            callbacks: run after each step, in this order.
            epochs: number of epochs in all steps, for the log, if known.

        Returns:
            whether a signal stopped the training. The last step is saved.

        Raises:
            ValueError: too many consecutive steps had a non-finite loss or
                gradient, or a weight to save is not finite. Or a user's files
                in --output_dir describe another model.
            tf.errors.ResourceExhaustedError: a device has run out of memory.
            tf.errors.UnavailableError: another worker was lost.
            OSError: a checkpoint could not be written.
        """
        config = self.config
        self.num_train_steps = num_train_steps
        if config.is_chief and config.training.summary_steps:
            summaries = SummaryCallback(
                self.run_folder.history, config, num_train_steps
            )
            callbacks = [*callbacks, summaries]
        for callback in callbacks:
            callback.on_train_begin()
        if self._agree_on_end(callbacks):
            logging.info(
                "Nothing left to do: the run in %s has ended at step %d.",
                config.training.output_dir,
                self.run_weights.global_step,
            )
            return False
        self.run_weights.check_optimizer()
        self._log_sizes()
        if self._recorded_settings is not None:
            self.run_folder.write_description(
                self.model, self._recorded_settings
            )
        history = self.run_folder.history
        with (
            history.training(self.run_weights.global_step),
            stopping.stop_signals() as stop,
        ):
            return self._run_until_stopped(
                records, callbacks, stop, epochs=epochs
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

    def _agree_on_end(self, callbacks: Sequence[Callback]) -> bool:
        """Agrees with all workers whether a resumed run must not train more.

        Logs the reasons of callbacks.
        """
        step = self.run_weights.global_step
        reasons = [callback.find_reason_to_stop(step) for callback in callbacks]
        for reason in filter(None, reasons):
            logging.info("%s", reason)
        # All workers restored the same step.
        agreed = stopping.agree_on_stop(
            self._strategy, [self._is_time_over or any(reasons)], is_due=True
        )
        return step >= self.num_train_steps or any(agreed)

    def _log_sizes(self) -> None:
        num_params = self.model.count_params()
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.config.batch_size)
        logging.info("  Steps = %d", self.num_train_steps)
        # A weight, its gradient and the optimizer's m and v are 16 bytes.
        logging.info(
            f"  Parameters = {num_params:,} ({16 * num_params:,} bytes)"
        )

    def _run_until_stopped(
        self,
        records: record_datasets.Records,
        callbacks: Sequence[Callback],
        stop: threading.Event,
        *,
        epochs: float | None,
    ) -> bool:
        """Runs the steps that are left, and saves them.

        Returns whether a signal ended them.
        """
        config = self.config
        batches = iter(self._distribute(self.create_dataset(records)))
        skipped = stopping.SkippedStepCounter(config.training)
        saved_step = self.run_weights.global_step
        logging.info("Building the first step, which may take a minute")
        with progress.Progress(
            self.num_train_steps,
            initial=saved_step,
            examples_per_unit=config.batch_size,
            description="Training",
            epochs=epochs,
            shows_ends=True,
        ) as bar:
            while True:
                logs = self._run_next_steps(batches, callbacks, skipped)
                step = self.run_weights.global_step
                if bar.is_due(step):
                    bar.update(step, **logs)
                is_save_due = self._is_save_due(saved_step)
                with bar.paused():
                    reasons = self._run_callbacks(
                        callbacks, logs, stop, is_save_due=is_save_due
                    )
                    ends = step == self.num_train_steps or any(reasons)
                    # Steps that are skipped may be the fault of the weights,
                    # so do not save these weights before the end.
                    may_save = is_save_due and not skipped.num_in_a_row
                    if may_save or ends:
                        self._save(logs, reasons)
                        saved_step = step
                if ends:
                    return reasons.is_stopped

    def _is_save_due(self, saved_step: int) -> bool:
        """Returns whether --save_checkpoints_steps have passed since a save.

        A save is due at each multiple of this number. A call may run several
        steps and end after the multiple.
        """
        interval = self.config.training.save_checkpoints_steps
        step = self.run_weights.global_step
        return step // interval > saved_step // interval

    def _run_next_steps(
        self,
        batches: Iterator[Features],
        callbacks: Sequence[Callback],
        skipped: stopping.SkippedStepCounter,
    ) -> Logs:
        """Runs the steps up to the next one after which something may be due.

        Returns the logs of the last step.
        """
        num_steps = self._num_steps_at_once(callbacks)
        logs, outcomes = self._required_train_step(batches, num_steps)
        self.run_weights.advance(num_steps)
        skipped.count(self.run_weights.global_step, outcomes)
        return logs

    def _run_callbacks(
        self,
        callbacks: Sequence[Callback],
        logs: Logs,
        stop: threading.Event,
        *,
        is_save_due: bool,
    ) -> _StopReasons:
        """Runs the callbacks after a step. Returns whether training ends."""
        step = self.run_weights.global_step
        decisions = [callback.on_step(step, logs) for callback in callbacks]
        is_due = (
            is_save_due
            or step % stopping.AGREEMENT_STEPS == 0
            or any(decision is not Decision.NONE for decision in decisions)
        )
        stop_reasons = _StopReasons(
            *stopping.agree_on_stop(
                self._strategy,
                [
                    Decision.END in decisions,
                    self._is_time_over,
                    stop.is_set(),
                ],
                is_due=is_due,
            )
        )
        if stop_reasons.is_time_over:
            logging.info("Reached --max_hours after step %d.", step)
        return stop_reasons

    def _save(self, logs: Logs, stop_reasons: _StopReasons) -> None:
        """Saves the current step, with the optimizer if training may go on."""
        step = self.run_weights.global_step
        rate = logs["learning_rate"]
        self.run_folder.history.add("checkpoint", step, {}, rate)
        # A run that a signal or the time ended may be resumed.
        goes_on = not (step == self.num_train_steps or stop_reasons.has_ended)
        self.run_weights.save(
            keeps_optimizer=self.config.training.keep_optimizer or goes_on
        )

    @property
    def _required_train_step(self) -> TrainStep:
        """The training step of a Trainer that trains.

        Raises:
            ValueError: the Trainer only predicts.
        """
        if self.train_step is None:
            raise ValueError("this Trainer was created without a training step")
        return self.train_step

    @property
    def _strategy(self) -> tf.distribute.Strategy:
        return self._required_train_step.strategy

    def _distribute(
        self, dataset: tf.data.Dataset[dict[str, tf.Tensor]]
    ) -> Iterable[Features]:
        """Returns a dataset whose batches the replicas share, if several."""
        if self._strategy.num_replicas_in_sync > 1:
            return devices.distribute_dataset(self._strategy, dataset)
        return dataset

    @property
    def _is_time_over(self) -> bool:
        limit = self.config.training.max_hours
        return limit is not None and self.run_folder.history.hours >= limit

    def _num_steps_at_once(self, callbacks: Sequence[Callback]) -> int:
        """Returns the number of steps to run before something may be due."""
        step = self.run_weights.global_step
        intervals = [
            callback.interval for callback in callbacks if callback.interval
        ]
        intervals.append(self.config.training.save_checkpoints_steps)
        return min(
            self.config.steps_per_call,
            self.num_train_steps - step,
            *(interval - step % interval for interval in intervals),
        )
