"""Runs the training loop of all tasks.

The loop does not depend on the task. A model maps a dict of features to
outputs, and a loss (modeling/losses.py) maps the outputs to a number.
train_step.py computes and applies the gradients.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

import modeling
from data.text.tokenization import FullTokenizer
from files import progress
from files.atomic import write_text
from modeling import descriptions
from modeling.presets import BEST
from training import checkpointing, checks, devices, stopping, train_step
from training.callbacks import Callback
from training.callbacks.history import History
from training.prediction import BatchPredictor
from training.results import format_results
from training.run_folder import set_best_step


class Trainer(BatchPredictor):
    """Trains, saves and restores one model, and predicts with it.

    Args:
        model: a keras.Model over a dict of features, already built. Its weights
            are saved.
        config: flags of the training.
        step: the training step of the model. None if the model only predicts.
        settings: settings of the run, such as configuration and batch size,
            which must not change when the run is resumed.
        dev_set: checksum of the dev set. Results with equal checksums may be
            compared.
        tokenizer: tokenizer of the texts, which is saved with the weights. None
            without a vocabulary, as in pretraining on masked records.
        labels: names of the model's outputs, in order, saved with the weights.
            None if the outputs are not labels.

    Attributes:
        num_train_steps: number of the step at which training ends.
        global_step: number of steps that trained the current weights,
            including steps that were skipped.
        has_best: whether the current weights come from the best step.
        best_folder: folder of the weights of the best step.
        checkpointer: saves the run in `output_dir`.
        history: metrics, steps and hours of the run.
        results: {name of a results file: its results} of this command.
    """

    def __init__(
        self,
        model: keras.Model,
        config: Any,
        step: train_step.TrainStep | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        dev_set: int = 0,
        tokenizer: FullTokenizer | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        super().__init__(model, config.jit_compile)
        self.config = config
        # None if the model only predicts.
        self.train_step: Any = step
        self.settings = settings or {}
        self.tokenizer, self.labels = tokenizer, labels
        self.is_chief = config.is_chief
        self.best_folder = Path(config.output_dir, BEST)
        self.num_train_steps, self.global_step = 0, 0
        self.has_best = False
        self.history = History(config, dev_set)
        self.results: dict[str, Mapping[str, float]] = {}
        weights = dict(modeling.named_variables(model))
        variables = {**weights}
        if step is not None:
            # Distillation may also train a projection outside of the model.
            saved = {id(variable) for variable in model.variables}
            variables |= {
                variable.path: variable
                for variable in step.model.trainable_variables
                if id(variable) not in saved
            }
        self.checkpointer = checkpointing.Checkpointer(
            config.output_dir,
            variables,
            step.optimizer if step else None,
            config.keep_checkpoint_max,
            self.is_chief,
        )
        self._best = checkpointing.Checkpointer(
            self.best_folder,
            weights,
            keep_checkpoint_max=1,
            is_chief=self.is_chief,
        )
        self._num_skipped = 0

    def restore_or_load(self, labels: Sequence[Sequence[str]] = ()) -> None:
        """Restores the run's newest checkpoint, or loads --init_checkpoint.

        If neither exists, the weights stay random.

        Args:
            labels: names of the model's outputs, as in
                `modeling.load_checkpoint`.
        """
        config = self.config
        step = self.checkpointer.restore()
        if step is None and config.initial_checkpoint:
            report = modeling.load_checkpoint(
                self.model,
                config.initial_checkpoint,
                config.init_layers and [*map(int, config.init_layers)],
                labels,
                config.load_best,
            )
            if not config.do_train:
                checks.check_loaded(config, report)
        elif step is None:
            logging.info("No --init_checkpoint: starting from random weights.")
        self.global_step = step or 0
        self.history.restore(self.global_step)

    def restore_best(self) -> bool:
        """Restores the weights of the best evaluation during training.

        Returns:
            whether a best step is saved. If not, the weights do not change.
        """
        step = self._best.restore()
        if step is not None:
            self.global_step, self.has_best = step, True
        return step is not None

    def save_best(self, step: int) -> None:
        """Saves the weights after `step` as the weights of the best step."""
        self._best.save(step)
        if self.is_chief:
            set_best_step(self.config.output_dir, step)

    def fit(
        self,
        create_dataset: Callable[[int, int], tf.data.Dataset],
        num_train_steps: int,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        """Trains from the current step until something ends the run.

        Training ends at step `num_train_steps`, when a callback returns True
        (`BestStep` out of patience), after --max_hours, at a signal, or at an
        error.

        Args:
            create_dataset: function (batch_size, skip_records) that returns
                an endless dataset of batches of features. The first
                `skip_records` records are skipped.
            num_train_steps: number of the last step.
            callbacks: run after each step, in this order.

        Raises:
            ValueError: too many consecutive steps had a non-finite loss or
                gradient, or a weight to save is not finite.
            tf.errors.ResourceExhaustedError: a device has run out of memory.
            tf.errors.UnavailableError: another worker was lost.
            OSError: a checkpoint could not be written.
            SystemExit: a signal stopped the run after saving it.
        """
        config, size = self.config, self.config.batch_size
        step = self.global_step
        self.num_train_steps = num_train_steps
        if (
            step >= num_train_steps
            or self._is_time_over
            or any(callback.has_ended(step) for callback in callbacks)
        ):
            logging.info(
                "Nothing left to do: the run in %s has ended at step %d.",
                *(config.output_dir, step),
            )
            return
        self._log_start()
        # Skip the records of all earlier steps, even of steps without an
        # update. The order of records depends only on the seed and the epoch.
        dataset = create_dataset(size, step * size)
        bar = progress.Progress(num_train_steps, step, "step", size, "Training")
        is_done = is_stopped = is_save_due = False
        strategy = self.train_step.strategy
        with (
            bar,
            self.history.training(step),
            stopping.stop_signals() as stop,
        ):
            batches = iter(devices.distribute(strategy, dataset))
            while not is_done:
                number = self._num_steps_at_once(callbacks)
                logs, outcomes = self.train_step(batches, number)
                self.global_step = step = step + number
                self._count_skipped(step, outcomes)
                if bar.due(step):
                    bar.update(step, **logs)
                with bar.paused():
                    ends = [call.on_step(step, logs) for call in callbacks]
                    is_save_due |= step % config.save_checkpoints_steps == 0
                    is_over, is_stopped = stopping.agree(
                        strategy,
                        [self._is_time_over, stop.is_set()],
                        is_save_due or step % stopping.AGREEMENT_STEPS == 0,
                    )
                    if is_over:
                        logging.info("Reached --max_hours after step %d.", step)
                    is_done = step == num_train_steps or any(
                        [*ends, is_over, is_stopped]
                    )
                    # Steps that are skipped may be the fault of the weights,
                    # so do not save these weights before the end.
                    if is_done or (is_save_due and not self._num_skipped):
                        rate = logs["learning_rate"]
                        self.history.add("checkpoint", step, {}, rate)
                        self.checkpointer.save(step)
                        is_save_due = False
        if is_stopped:
            logging.warning(
                "Stopped after step %d, which is saved. Run the same command "
                "again to resume.",
                step,
            )
            raise SystemExit(stopping.INTERRUPTED_STATUS)

    @property
    def _is_time_over(self) -> bool:
        limit = self.config.max_hours
        return limit is not None and self.history.hours >= limit

    def _log_start(self) -> None:
        logging.info("***** Running training *****")
        logging.info("  Batch size = %d", self.config.batch_size)
        logging.info("  Steps = %d", self.num_train_steps)
        parameters = sum(math.prod(w.shape) for w in self.model.weights)
        # A weight, its gradient and the optimizer's m and v.
        num_bytes = 4 * 4 * parameters
        logging.info(f"  Parameters = {parameters:,} ({num_bytes:,} bytes)")

    # Returns the number of steps to run before something may be due.
    def _num_steps_at_once(self, callbacks: Sequence[Callback]) -> int:
        step, every = self.global_step, [c.every for c in callbacks if c.every]
        every.append(self.config.save_checkpoints_steps)
        return min(
            self.config.steps_per_call,
            self.num_train_steps - step,
            *(number - step % number for number in every),
        )

    # Counts the steps in a row that changed no weight, up to `step`, and raises
    # a ValueError if they are too many. A gradient that overflows only because
    # of float16's loss scaling does not count.
    def _count_skipped(self, step: int, outcomes: np.ndarray) -> None:
        for number, outcome in enumerate(outcomes, step - len(outcomes) + 1):
            if outcome == train_step.MADE:
                self._num_skipped = 0
            elif outcome == train_step.OVERFLOWED:
                logging.info(
                    "Step %d was skipped, because its gradient, scaled for "
                    "float16, overflowed. Halving the loss scale.",
                    number,
                )
            else:
                self._num_skipped += 1
                logging.warning(
                    "Step %d was skipped (%d in a row), because its loss or "
                    "gradient is not finite.",
                    *(number, self._num_skipped),
                )
            if self._num_skipped >= self.config.max_nonfinite_steps:
                raise ValueError(
                    f"the loss or gradient of {self._num_skipped} steps in a "
                    f"row was not finite, up to step {number}. Set a smaller "
                    "--learning_rate. If the weights of the newest checkpoint "
                    f"in {self.config.output_dir} are the cause, remove its "
                    "files to resume from an earlier step"
                )

    @property
    def described_step(self) -> str:
        """Description of the current weights, for the log."""
        if not self.global_step:
            start = self.config.init_checkpoint
            return f"the weights of {start}" if start else "random weights"
        which = "best" if self.has_best else "last"
        return f"the weights of step {self.global_step} (the {which} step)"

    def write_results(self, name: str, results: Mapping[str, float]) -> None:
        """Writes `key = value` lines like Google's code, and logs a table."""
        ordered = {key: results[key] for key in sorted(results)}
        logging.info("***** Eval results *****\n%s", format_results(ordered))
        self.results[name] = results
        if self.is_chief:
            path = Path(self.config.output_dir) / name
            lines = [f"{key} = {value}\n" for key, value in ordered.items()]
            write_text(path, "".join(lines))
            logging.info("Wrote %s", path)

    def finish(self) -> None:
        """Writes the weights to --export_weights.

        The folder --export_weights then contains the files of Google's releases
        (bert_model.ckpt, bert_config.json, vocab.txt), model.json, and
        labels.txt if the model's outputs are labels.

        Raises:
            OSError: a file cannot be written.
        """
        path = self.config.export_weights
        if self.is_chief and path is not None:
            modeling.save_release(
                self.model,
                path,
                self.tokenizer,
                self.labels,
                files=descriptions.describe_copy(
                    self.config.weights,
                    self.model,
                    descriptions.WEIGHTS,
                    step=self.global_step or None,
                    labels=self.labels,
                    tokenizer=self.tokenizer,
                    results=self.results.get("eval_results.txt"),
                ),
            )
            logging.info("Wrote the weights to %s", path)
