"""Runs the steps of a training, one after another, until something ends it.

The training ends after a step that is saved: the last one, or the one after
which a callback, --max_hours or a signal ends it.
"""

import threading
from collections.abc import Iterable, Sequence

import tensorflow as tf
from absl import logging

from modeling.tensors import Features
from terminal import progress
from training.config.training_config import TrainingConfig
from training.loop.callbacks import Callback, Decision, Logs
from training.loop.ending import AGREEMENT_STEPS, EndReasons, agree_on_end
from training.loop.run_weights import RunWeights
from training.loop.skipped_steps import SkippedStepCounter
from training.loop.train_step import TrainStep
from training.run_files.run_folder import RunFolder


class StepLoop:
    """Runs the remaining steps of a training, with callbacks and checkpoints.

    Call `run` only if there is a step left, as `find_reasons_to_end` says.

    Args:
        train_step: the training step of the model.
        run_weights: the weights that the steps change, to save them.
        run_folder: folder of the run, whose history gets a line of each save.
        config: after how many steps to save, and the limit of hours.
        callbacks: run after each step, in this order.
        num_train_steps: number of the step at which training ends.
    """

    def __init__(
        self,
        train_step: TrainStep,
        run_weights: RunWeights,
        run_folder: RunFolder,
        config: TrainingConfig,
        *,
        callbacks: Sequence[Callback],
        num_train_steps: int,
    ) -> None:
        self._train_step = train_step
        self._run_weights = run_weights
        self._history = run_folder.history
        self._best_step = run_folder.best_step
        self._config = config
        self._callbacks = callbacks
        self._num_train_steps = num_train_steps
        self._skipped = SkippedStepCounter(config.training.output_dir)
        self._saved_step = run_weights.global_step

    def find_reasons_to_end(self) -> EndReasons:
        """Returns why no step is left to run, which is so if a run has ended.

        If a callback ended the run, its reason is logged.
        """
        step = self._run_weights.global_step
        descriptions = [
            callback.describe_reason_to_end(step)
            for callback in self._callbacks
        ]
        for description in filter(None, descriptions):
            logging.info("%s", description)
        is_ended_by_callback, is_time_over = agree_on_end(
            self._train_step.strategy,
            [any(descriptions), self._is_time_over],
            is_due=True,
        )
        return EndReasons(
            is_ended_by_callback=is_ended_by_callback,
            is_time_over=is_time_over,
            is_stopped=False,
            # All workers restored the same step.
            is_complete=step >= self._num_train_steps,
        )

    def run(
        self,
        dataset: tf.data.Dataset[dict[str, tf.Tensor]],
        stop: threading.Event,
        *,
        epochs: float | None,
    ) -> EndReasons:
        """Runs the steps that are left, and saves them.

        Args:
            dataset: the batches of these steps.
            stop: set by a signal that stops the training.
            epochs: number of epochs in all steps, for the log, if known.

        Returns:
            why the steps ended.
        """
        for callback in self._callbacks:
            callback.on_train_begin()
        batches = iter(_distribute(dataset, self._train_step.strategy))
        logging.info("Building the first step, which may take a minute")
        with progress.Progress(
            self._num_train_steps,
            initial=self._run_weights.global_step,
            examples_per_unit=self._config.batch_size,
            description="Training",
            epochs=epochs,
            shows_ends=True,
        ) as bar:
            while True:
                num_steps = self._num_steps_at_once()
                logs, outcomes = self._train_step(batches, num_steps)
                step = self._run_weights.advance(num_steps)
                self._skipped.count(step, outcomes)
                if bar.is_due(step):
                    bar.update(step, **logs)
                with bar.paused():
                    reasons = self._finish_step(logs, stop)
                if any(reasons):
                    return reasons

    def _num_steps_at_once(self) -> int:
        """Returns how many steps to run before a save or a callback."""
        step = self._run_weights.global_step
        intervals = [
            callback.interval
            for callback in self._callbacks
            if callback.interval
        ]
        intervals.append(self._config.training.save_checkpoints_steps)
        return min(
            self._config.steps_per_call,
            self._num_train_steps - step,
            *(interval - step % interval for interval in intervals),
        )

    def _finish_step(self, logs: Logs, stop: threading.Event) -> EndReasons:
        """Runs the callbacks, and saves the step at its interval or the end.

        Returns why training ends.
        """
        is_save_due = self._is_save_due
        reasons = self._run_callbacks(logs, stop, is_save_due=is_save_due)
        # Steps that are skipped may be the fault of the weights, so do not save
        # these weights before the end.
        may_save = is_save_due and not self._skipped.num_in_a_row
        if may_save or any(reasons):
            self._save(logs, reasons)
        return reasons

    @property
    def _is_save_due(self) -> bool:
        """Whether --save_checkpoints_steps have passed since a save.

        A save is due at each multiple of this number. If it is postponed
        because of skipped steps, it stays due after the multiple.
        """
        interval = self._config.training.save_checkpoints_steps
        step = self._run_weights.global_step
        return step // interval > self._saved_step // interval

    def _run_callbacks(
        self, logs: Logs, stop: threading.Event, *, is_save_due: bool
    ) -> EndReasons:
        """Runs the callbacks after a step. Returns the reasons to end."""
        step = self._run_weights.global_step
        decisions = [
            callback.on_step(step, logs) for callback in self._callbacks
        ]
        is_due = (
            is_save_due
            or step % AGREEMENT_STEPS == 0
            or any(decision is not Decision.NONE for decision in decisions)
        )
        is_ended_by_callback, is_time_over, is_stopped = agree_on_end(
            self._train_step.strategy,
            [Decision.END in decisions, self._is_time_over, stop.is_set()],
            is_due=is_due,
        )
        if is_time_over:
            logging.info("Reached --max_hours after step %d.", step)
        return EndReasons(
            is_ended_by_callback=is_ended_by_callback,
            is_time_over=is_time_over,
            is_stopped=is_stopped,
            is_complete=step == self._num_train_steps,
        )

    @property
    def _is_time_over(self) -> bool:
        limit = self._config.training.max_hours
        return limit is not None and self._history.hours >= limit

    def _save(self, logs: Logs, reasons: EndReasons) -> None:
        """Saves the current step, with the optimizer if training may go on."""
        step = self._run_weights.global_step
        self._history.add_checkpoint(
            step, logs["learning_rate"], best_step=self._best_step.step
        )
        # A run that a signal or the time ended may be resumed.
        goes_on = not (reasons.is_complete or reasons.is_ended_by_callback)
        self._run_weights.save(
            keeps_optimizer=self._config.training.keep_optimizer or goes_on
        )
        self._saved_step = step


def _distribute(
    dataset: tf.data.Dataset[dict[str, tf.Tensor]],
    strategy: tf.distribute.Strategy,
) -> Iterable[Features]:
    """Splits each batch of a dataset into a smaller batch for each replica.

    Each worker reads every batch and keeps the examples of its own replicas,
    so that a step uses the same examples on any number of devices. The size of
    each batch must be a multiple of the number of replicas.
    """
    if strategy.num_replicas_in_sync == 1:
        return dataset
    options = tf.data.Options()
    policy = tf.data.experimental.AutoShardPolicy.DATA
    options.experimental_distribute.auto_shard_policy = policy
    return strategy.experimental_distribute_dataset(
        dataset.with_options(options)
    )
