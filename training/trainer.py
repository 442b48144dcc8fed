"""Runs the training loop of all tasks.

The loop does not depend on the task. A model maps a dict of features to
outputs, and a loss (modeling/losses.py) maps the outputs to a number. Callbacks
(callbacks/) do the rest, such as logging or evaluation.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

import modeling
from data.io import tfrecords
from data.text.tokenization import FullTokenizer
from files.atomic import write_text
from modeling import descriptions
from modeling.losses import Loss
from training import (
    checkpointing,
    devices,
    train_step,
)
from training.callbacks import Callback
from training.callbacks.history import History
from training.prediction import BatchPredictor
from training.results import format_results
from training.run_folder import RunFolder


class Trainer(BatchPredictor):
    """Trains, saves and restores one model, and predicts with it.

    Args:
        model: a keras.Model over a dict of features, already built.
        loss: the loss of the model. None if the model only predicts.
        optimizer: an optimizer with `aggregate_gradients=False`. None if the
            model only predicts.
        config: flags of the training.
        callbacks: the run's instances of callbacks.Callback.
        strategy: the tf.distribute strategy that created the variables.
        shape: (number of WordPieces, number of masked positions) of a padded
            example.

    Attributes:
        num_train_steps: number of the step at which training ends.
        global_step: number of steps that trained the current weights.
        has_best: whether the current weights come from the best step.
        checkpointer: saves the run in `output_dir`. None without `output_dir`.
        outcomes: int array of the outcomes (see TrainStep) of the steps that
            the latest call of the TrainStep ran.
        settings: settings of the run, such as configuration and batch size,
            which must not change when the run is resumed.
        fingerprint: {"run", "dev_set": checksum}, see
            `fingerprints.fingerprint_of`. Results with equal checksums may be
            compared.
        results: {name of a results file: its results} of this command.
        run: folder of the run.
        records: training records, for error messages. None if unknown.
        tokenizer: tokenizer of the texts, which is saved with the weights. None
            without a vocabulary, as in pretraining on masked records.
        labels: names of the model's outputs, in order, saved with the weights.
            None if the outputs are not labels.
    """

    def __init__(
        self,
        model: keras.Model,
        loss: Loss | None,
        optimizer: keras.optimizers.Optimizer | None,
        config: Any,
        callbacks: Sequence[Callback] = (),
        strategy: tf.distribute.Strategy | None = None,
        shape: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(model, config.jit_compile)
        self.optimizer: Any = optimizer
        self.config = config
        self.callbacks = callbacks
        self.strategy = strategy or tf.distribute.get_strategy()
        self.shape, self.num_train_steps = shape, 0
        self.is_chief = config.is_chief
        self.global_step, self.has_best = 0, False
        self.outcomes = np.zeros(0, np.int32)
        self.run = RunFolder(config.output_dir)
        self.settings: Mapping[str, Any] = {}
        self.fingerprint: Mapping[str, str] = {}
        self.results: dict[str, Mapping[str, float]] = {}
        self.records: tfrecords.Records | None = None
        self.tokenizer: FullTokenizer | None = None
        self.labels: Sequence[str] | None = None
        for callback in callbacks:
            callback.trainer = self
        self._train_step: Any = None
        if loss is not None and optimizer is not None:
            trained, its_loss = model, loss
            with self.strategy.scope():
                for callback in callbacks:
                    trained, its_loss = callback.wrap(trained, its_loss)
            self._train_step = train_step.TrainStep(trained, its_loss, self)
        self.checkpointer: checkpointing.Checkpointer | None = None
        if config.output_dir:
            variables = dict(modeling.named_variables(model))
            for callback in callbacks:
                variables |= callback.variables()
            self.checkpointer = checkpointing.Checkpointer(
                config.output_dir,
                variables,
                optimizer,
                keep_checkpoint_max=config.keep_checkpoint_max,
                is_chief=self.is_chief,
                before_save=[callback.on_save for callback in callbacks],
            )

    @property
    def step(self) -> int:
        """Number of steps run so far, including steps without an update."""
        return int(self.optimizer.iterations.numpy())

    @property
    def history(self) -> History:
        """The callback that writes the run's history."""
        return next(c for c in self.callbacks if isinstance(c, History))

    def restore_or_load(self, labels: Sequence[Sequence[str]] = ()) -> None:
        """Restores the run's newest checkpoint, or loads --init_checkpoint.

        If neither exists, the weights stay random.

        Args:
            labels: names of the model's outputs, as in
                `modeling.load_checkpoint`.
        """
        config = self.config
        step = self.checkpointer.restore() if self.checkpointer else None
        if step is None and config.initial_checkpoint:
            modeling.load_checkpoint(
                self.model,
                config.initial_checkpoint,
                config.initial_layers,
                labels,
                config.load_best,
            )
        elif step is None:
            logging.info("No --init_checkpoint: starting from random weights.")
        self.global_step = step or 0
        for callback in self.callbacks:
            callback.on_restore(self.global_step)

    def restore_best(self) -> bool:
        """Restores the weights of the best evaluation during training.

        Returns:
            whether a best step is saved. If not, the weights do not change.
        """
        step = self.weights_in(self.run.best).restore()
        if step is not None:
            self.global_step, self.has_best = step, True
            for callback in self.callbacks:
                callback.on_restore(step)
        return step is not None

    def weights_in(self, folder: Path | str) -> checkpointing.Checkpointer:
        """Returns a Checkpointer of the weights, without the optimizer's state.

        The Checkpointer keeps only the newest checkpoint in the folder.
        """
        return checkpointing.Checkpointer(
            folder,
            modeling.named_variables(self.model),
            keep_checkpoint_max=1,
            is_chief=self.is_chief,
        )

    def save_weights(
        self,
        folder: Path | str,
        step: int,
    ) -> None:
        """Saves the weights after `step`, without the optimizer's state.

        Deletes the weights that `folder` contained.
        """
        weights = self.weights_in(folder)
        # Otherwise, weights of an earlier run with a higher step number would
        # be read as the newest.
        weights.remove_from(step)
        weights.save(step, self.fingerprint.get("run"))

    def fit(
        self,
        create_dataset: Callable[[int, int], tf.data.Dataset],
        num_train_steps: int,
    ) -> None:
        """Trains from the current step until something ends the run.

        Training ends at step `num_train_steps`, when the `on_step` of a
        callback returns True (`BestStep` out of patience, `TimeLimit`,
        `StopSignals`), or at an error.

        Args:
            create_dataset: function (batch_size, skip_records) that returns
                an endless dataset of batches of features. The first
                `skip_records` records are skipped.
            num_train_steps: number of the last step.

        Raises:
            ValueError: too many consecutive steps had a non-finite loss or
                gradient (`NonFinite`), or a weight to save is not finite
                (`Checkpointer`).
            tf.errors.ResourceExhaustedError: a device has run out of memory.
            ConnectionError: another worker was lost.
            OSError: a checkpoint could not be written.
            SystemExit: a signal stopped the run after saving it.
        """
        if self._train_step is None:
            raise ValueError("A Trainer needs a loss and an optimizer to train")
        self.global_step = self.step
        self.num_train_steps = num_train_steps
        if self.step >= num_train_steps:
            logging.info(
                "Nothing left to do: %s is at step %d of %d.",
                self.config.output_dir,
                self.step,
                num_train_steps,
            )
        elif not any([c.has_ended(self.step) for c in self.callbacks]):
            size = self.config.batch_size
            logging.info("***** Running training *****")
            logging.info("  Batch size = %d", size)
            logging.info("  Steps = %d", num_train_steps)
            parameters = sum(math.prod(w.shape) for w in self.model.weights)
            # A weight, its gradient and the optimizer's m and v.
            num_bytes = 4 * 4 * parameters
            logging.info(f"  Parameters = {parameters:,} ({num_bytes:,} bytes)")
            dataset = create_dataset(size, self.step * size)
            with contextlib.ExitStack() as stack:
                for callback in self.callbacks:
                    stack.enter_context(callback.running())
                self._make_all_steps(dataset)
            self.global_step = self.step

    def _make_all_steps(self, dataset: tf.data.Dataset) -> None:
        iterator = iter(devices.distribute(self.strategy, dataset))
        step, is_save_due, is_done = self.step, False, False
        # One call never runs past a step at which a save or callback is due.
        boundaries = [self.config.save_checkpoints_steps]
        boundaries += [c.every for c in self.callbacks if c.every]
        while not is_done:
            number = min(
                self.config.steps_per_call,
                self.num_train_steps - step,
                *(every - step % every for every in boundaries),
            )
            votes = [callback.on_step_begin() for callback in self.callbacks]
            logs, agreed = self._make_steps(iterator, number, votes)
            step += number
            is_done = step == self.num_train_steps
            for callback, value in zip(self.callbacks, agreed, strict=True):
                if self.strategy.num_replicas_in_sync == 1:
                    # With several replicas, the step averages the votes that
                    # were cast before the step. A single replica needs no
                    # average, so let the callback vote again after the step.
                    value = callback.on_step_begin()
                is_done |= bool(callback.on_step(step, logs, value))
            is_save_due |= step % self.config.save_checkpoints_steps == 0
            may_save = all(callback.may_save for callback in self.callbacks)
            if self.checkpointer and (is_done or (is_save_due and may_save)):
                self.checkpointer.save(step, self.fingerprint.get("run"))
                is_save_due = False

    def _make_steps(
        self,
        iterator: Iterator[train_step.Features],
        number: int,
        votes: Sequence[float],
    ) -> tuple[dict[str, float], Sequence[float]]:
        """Runs `number` steps. Returns the last step's logs and mean votes."""
        arguments = [iterator, tf.constant(votes, tf.float32)]
        try:
            logs, outcomes, agreed = (
                self._train_step.one(*arguments)
                if number == 1
                else self._train_step.many(*arguments, tf.constant(number))
            )
            logs = {name: float(value) for name, value in logs.items()}
        except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
            # Collective operations fail on all workers if one is lost. Name the
            # step to resume from, because no process can continue.
            steps = self.checkpointer.steps() if self.checkpointer else []
            raise ConnectionError(
                "another worker was lost, so all workers stop; start all "
                "workers again to resume from step "
                f"{steps[-1] if steps else 0}"
            ) from error
        self.outcomes = outcomes.numpy()
        return logs, agreed.numpy()

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
