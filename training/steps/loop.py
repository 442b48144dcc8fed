"""Training, evaluation and prediction of any task, counted in steps.

Nothing here names a task: a model maps a dict of features to outputs, and a
loss (modeling/losses.py) maps those to a number.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from modeling import quantization
from modeling.accelerated import int8
from modeling.accelerated.inference import Predictor
from modeling.distillation import Distiller
from training import batch_sizes, progress
from training.loss import Loss
from training.options import LoopOptions
from training.outputs import checkpointing
from training.steps import ending, train_step
from training.steps.hooks import Hook, PeriodicHook
from training.steps.skipped_steps import SkippedSteps

# Number of batches to measure int8 with.
_NUM_MEASURED = 16


class _Saves:
    """Saves a checkpoint every N steps, and after the last step."""

    def __init__(
        self,
        checkpointer: checkpointing.Checkpointer | None,
        every: int,
        skipped: SkippedSteps,
    ) -> None:
        self._checkpointer = checkpointer
        self._every = every
        self._skipped = skipped
        self._is_due = False

    def after(self, step: int, is_last: bool) -> None:
        """Saves if a checkpoint is due after a step."""
        # While steps are skipped nothing is learned, and the weights may be
        # the cause, so keep the earlier checkpoints.
        self._is_due |= step % self._every == 0
        is_due = is_last or (self._is_due and not self._skipped.in_a_row)
        if self._checkpointer and is_due:
            self._checkpointer.save(step)
            self._is_due = False


class Trainer:
    """Trains, evaluates and predicts with one model.

    Args:
        model: a keras.Model over a dict of features, with its variables made.
        loss: its loss; None where the model only predicts.
        optimizer: made with `aggregate_gradients=False`; None where the model
            is not trained.
        strategy: the tf.distribute strategy the variables were made under.
        options: StepOptions.
        distiller: calls the model and its teacher in training; its loss is
            minimized. None without a teacher.
    """

    def __init__(
        self,
        model: keras.Model,
        loss: Loss | None = None,
        optimizer: keras.optimizers.Optimizer | None = None,
        strategy: tf.distribute.Strategy | None = None,
        options: train_step.StepOptions | None = None,
        distiller: Distiller | None = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer: Any = optimizer
        self.strategy = strategy or tf.distribute.get_strategy()
        options = options or train_step.StepOptions()
        self.averages = options.averages
        self._jit_compile = options.jit_compile
        self._create_predictor()
        self.distiller = distiller
        self._train_step: Any = None
        if loss is not None and optimizer is not None:
            self._train_step = train_step.TrainStep(
                distiller or model,
                distiller.loss if distiller else loss,
                optimizer,
                self.strategy,
                options,
            )

    def _create_predictor(self) -> None:
        self._predictor = Predictor(self.model, self._jit_compile)
        self._forward = tf.function(
            self._predictor,
            jit_compile=self._jit_compile or None,
            reduce_retracing=True,
            autograph=False,
        )

    def quantize(
        self,
        dataset: Iterable[train_step.Features],
        static_ranges: bool = False,
    ) -> None:
        """Switches prediction to int8 and logs the layers affected.

        Args:
            dataset: representative batches of features; the first few are used.
            static_ranges: see quantization.quantize.
        """
        report = quantization.quantize(
            self.model,
            map(self._inputs, itertools.islice(dataset, _NUM_MEASURED)),
            static_ranges,
        )
        logging.info("%s", report)
        if not int8.has_kernels():
            logging.warning(
                "TensorFlow's int8 kernels are not used here (they need "
                "oneDNN, a CPU with VNNI and no GPU): int8 is computed by "
                "float32 operations, slower than without --quantize."
            )
        self._create_predictor()

    def _inputs(self, features: train_step.Features) -> train_step.Features:
        """Returns the features that the model reads, if it says which.

        Then splits with and without labels share a graph. Strings (guids) are
        never among them.
        """
        names = getattr(self.model, "feature_ranks", features)
        return {
            name: value
            for name, value in features.items()
            if name in names and value.dtype != tf.string
        }

    @property
    def step(self) -> int:
        """Number of steps trained so far, skipped ones included."""
        return int(self.optimizer.iterations.numpy())

    def train(
        self,
        dataset: Iterable[train_step.Features],
        num_train_steps: int,
        batch_size: int | batch_sizes.BatchSizes,
        checkpointer: checkpointing.Checkpointer | None = None,
        options: LoopOptions | None = None,
        hooks: Sequence[Hook] = (),
        describe_batch: Callable[[int], str] | None = None,
    ) -> None:
        """Trains until step `num_train_steps`.

        Starts after the optimizer's step, which may be a restored one. On
        SIGTERM or SIGINT it finishes the current step, saves, and raises
        SystemExit(75).

        Args:
            dataset: endless batches of features, the first being that of the
                next step; each element is one replica's part of a batch.
            num_train_steps: the last step.
            batch_size: examples in a batch, over all replicas; or those of
                each step.
            checkpointer: saves as `options` say, and at the end.
            options: LoopOptions.
            hooks: called as hook(step, logs) after each step, logs being a
                dict of floats; one that returns True ends the training. With
                several steps per call, hooks see only the last; a
                PeriodicHook sees each multiple of its `every`.
            describe_batch: (steps before the batch) -> text that names its
                records.

        Raises:
            ValueError: too many consecutive steps were not finite, or there is
                no optimizer.
        """
        if self._train_step is None:
            raise ValueError("A Trainer needs a loss and an optimizer to train")
        options = options or LoopOptions()
        iterator, sizes = iter(dataset), batch_sizes.of(batch_size)
        bar = progress.Progress(
            num_train_steps, self.step, "step", sizes.final, "Training"
        )
        skipped = SkippedSteps(
            options.max_nonfinite_steps, describe_batch, checkpointer
        )
        saves = _Saves(checkpointer, options.save_checkpoints_steps, skipped)
        step = self.step
        is_alone = self.strategy.num_replicas_in_sync == 1
        with ending.stop_signals() as stop, bar:
            end = ending.End(
                num_train_steps, options.time_spent, stop, is_alone
            )
            while step < num_train_steps:
                number = _num_steps(step, num_train_steps, options, hooks)
                with ending.lost_workers(checkpointer):
                    logs, outcomes, agreed = self._make_steps(
                        iterator, number, end.status()
                    )
                skipped.record(outcomes, step)
                step += number
                if bar.due(step):
                    bar.examples_per_unit = sizes.at(step - 1)
                    bar.update(step, **logs)
                with bar.paused():
                    done = any([hook(step, logs) for hook in hooks])
                    done |= end.is_after(step, agreed)
                    saves.after(step, is_last=done)
                if done:
                    end.report(step)
                    break

    def _make_steps(
        self,
        iterator: Iterator[train_step.Features],
        number: int,
        status: Sequence[float],
    ) -> tuple[dict[str, float], np.ndarray, Sequence[float]]:
        """Makes some steps; see TrainStep for what is taken and returned."""
        arguments = [iterator, tf.constant(status)]
        logs, outcomes, agreed = (
            self._train_step.one(*arguments)
            if number == 1
            else self._train_step.many(*arguments, tf.constant(number))
        )
        logs = {name: float(value) for name, value in logs.items()}
        return logs, outcomes.numpy(), agreed.numpy()

    def predict(
        self,
        dataset: Iterable[train_step.Features],
        num_batches: int | None = None,
        label: str = "Predicting",
    ) -> Iterator[tuple[dict[str, np.ndarray], Any]]:
        """Yields (features, outputs) of each batch as NumPy arrays.

        Logs an error, once, if an output is NaN.
        """
        # Cast once, not for every batch.
        kernels = self._predictor.cast_kernels()
        if isinstance(dataset, tf.data.Dataset):
            _trace(self._forward, self._inputs(dataset.element_spec), kernels)
        found_nan = False
        batches = progress.track(dataset, num_batches, "batch", label)
        for number, features in enumerate(batches, start=1):
            outputs = tf.nest.map_structure(
                np.asarray, self._forward(self._inputs(features), kernels)
            )
            if not found_nan and _has_nan(outputs):
                found_nan = True
                logging.error(
                    "The model's outputs are NaN, first in batch %d, so its "
                    "results are worthless. Its training failed, or its "
                    "values exceed the range of --mixed_precision.",
                    number,
                )
            yield tf.nest.map_structure(np.asarray, features), outputs

    def evaluate(
        self,
        dataset: tf.data.Dataset,
        metric_fn: Callable[..., dict[str, tuple[tf.Tensor, tf.Tensor]]],
        max_batches: int | None = None,
    ) -> dict[str, float]:
        """Returns metrics over a dataset, and the mean loss of its batches.

        Args:
            dataset: batches of features.
            metric_fn: (outputs, features) -> {name: (sum, weight)} of tensors;
                a metric is total sum / total weight.
            max_batches: maximum number of batches; None for all.

        Returns:
            {name: float} with "loss" added, the mean over batches.
        """
        if self.loss is None:
            raise ValueError("A Trainer needs a loss to evaluate")
        kernels, loss = self._predictor.cast_kernels(), self.loss

        @tf.function(reduce_retracing=True, autograph=False)
        def step(
            features: train_step.Features, kernels: Any
        ) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
            outputs = self._predictor(features, kernels)
            total, _ = loss(outputs, features)
            return metric_fn(outputs, features) | {"loss": (total, 1.0)}

        if max_batches is not None:
            dataset = dataset.take(max_batches)
        _trace(step, dataset.element_spec, kernels)
        sums: dict[str, np.ndarray] = {}
        for features in progress.track(
            dataset, max_batches, "batch", "Evaluating"
        ):
            for name, pair in step(features, kernels).items():
                pair = np.array([float(value) for value in pair])
                sums[name] = sums.get(name, 0.0) + pair
        return {
            name: float(total / weight) if weight else 0.0
            for name, (total, weight) in sums.items()
        }


def _num_steps(
    step: int, num_train_steps: int, options: LoopOptions, hooks: Sequence[Hook]
) -> int:
    """Returns the number of steps in one call, up to the next save or hook.

    Args:
        step: steps made before.
        num_train_steps: the last step.
        options: LoopOptions.
        hooks: see `Trainer.train`.
    """
    boundaries = [options.save_checkpoints_steps]
    boundaries += [
        hook.every for hook in hooks if isinstance(hook, PeriodicHook)
    ]
    return min(
        options.steps_per_call,
        num_train_steps - step,
        *(every - step % every for every in boundaries),
    )


def _trace(function: Any, spec: train_step.Features, kernels: Any) -> None:
    """Traces a function of batches once, for all shapes of a dataset.

    Otherwise it is traced for the first batch, and again for the first one of
    another length or size.
    """
    function.get_concrete_function(spec, kernels)


def _has_nan(outputs: Any) -> bool:
    return any(
        np.isnan(array).any()
        for array in tf.nest.flatten(outputs)
        # NumPy has no kind for bfloat16; it reports "V".
        if array.dtype.kind in "fV"
    )
