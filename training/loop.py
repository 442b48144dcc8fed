"""Training, evaluation and prediction of any task, counted in steps.

Nothing here names a task: a model maps a dict of features to outputs, and a
loss (modeling/losses.py) maps those to a number.
"""

import contextlib
import itertools
import signal
import threading
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
from training import batch_sizes, checkpointing, progress, train_step
from training.averaging import WeightAverages
from training.hooks import Hook
from training.skipped_steps import SkippedSteps
from training.task import Loss

# Exit status of a run that saved after a stop signal (EX_TEMPFAIL).
INTERRUPTED_STATUS = 75
# Number of batches to measure int8 with.
_NUM_MEASURED = 16


class Trainer:
    """Trains, evaluates and predicts with one model.

    Args:
        model: a keras.Model over a dict of features, with its variables made.
        loss: its loss; None where the model only predicts.
        optimizer: made with `aggregate_gradients=False`; None where the model
            is not trained.
        strategy: the tf.distribute strategy the variables were made under.
        clip_norm: the gradient's global norm is clipped to this.
        gradient_accumulation_steps: parts into which a batch is cut, computed
            one at a time; the update is the same.
        jit_compile: compile the forward and backward pass by XLA.
        time_spent: float variable that each step sets to the fraction of the
            training time spent, for a learning rate that follows it; or None.
        averages: averages of the weights, updated after each step; or None.
        distiller: calls the model and its teacher in training; its loss is
            minimized. None without a teacher.
    """

    def __init__(
        self,
        model: keras.Model,
        loss: Loss | None = None,
        optimizer: keras.optimizers.Optimizer | None = None,
        strategy: tf.distribute.Strategy | None = None,
        clip_norm: float = 1.0,
        gradient_accumulation_steps: int = 1,
        jit_compile: bool = False,
        time_spent: tf.Variable | None = None,
        averages: WeightAverages | None = None,
        distiller: Distiller | None = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer: Any = optimizer
        self.strategy = strategy or tf.distribute.get_strategy()
        self.averages = averages
        self._jit_compile = jit_compile
        self._create_predictor()
        self.distiller = distiller
        self._train_step = None
        if loss is not None and optimizer is not None:
            self._train_step = train_step.TrainStep(
                distiller or model,
                distiller.loss if distiller else loss,
                optimizer,
                self.strategy,
                clip_norm,
                gradient_accumulation_steps,
                jit_compile,
                time_spent,
                averages,
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
            map(_for_model, itertools.islice(dataset, _NUM_MEASURED)),
            static_ranges,
        )
        logging.info("%s", report)
        if not int8.has_kernels():
            logging.warning(
                "TensorFlow has no int8 kernels here (they need oneDNN and a "
                "CPU): int8 is computed by float32 operations, slower than "
                "without --quantize."
            )
        self._create_predictor()

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
        save_checkpoints_steps: int = 1000,
        steps_per_call: int = 1,
        max_nonfinite_steps: int = 10,
        describe_batch: Callable[[int], str] | None = None,
        hooks: Sequence[Hook] = (),
        time_spent: Callable[[], float] = lambda: 0.0,
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
            checkpointer: saves every `save_checkpoints_steps` and at the end.
            save_checkpoints_steps: see `checkpointer`.
            steps_per_call: maximum steps without returning to Python; fewer if
                a save or a hook is due.
            max_nonfinite_steps: stop after this many consecutive steps with a
                non-finite loss or gradient. A gradient that overflows only
                because of float16's loss scaling is not counted.
            describe_batch: (steps before the batch) -> text that names its
                records.
            hooks: called as hook(step, logs) after each step, logs being a
                dict of floats; one that returns True ends the training. With
                several steps per call, hooks see only the last; a hook with
                an attribute `every` sees each multiple of it.
            time_spent: () -> fraction of the training time spent; at 1.0
                training saves and stops.

        Raises:
            ValueError: too many consecutive steps were not finite, or there is
                no optimizer.
        """
        if self._train_step is None:
            raise ValueError("A Trainer needs a loss and an optimizer to train")
        iterator, sizes = iter(dataset), batch_sizes.of(batch_size)
        bar = progress.Progress(
            num_train_steps, self.step, "step", sizes.final, "Training"
        )
        skipped = SkippedSteps(
            max_nonfinite_steps, describe_batch, checkpointer
        )
        boundaries = [save_checkpoints_steps]
        boundaries += [hook.every for hook in hooks if hasattr(hook, "every")]
        step, save_is_due = self.step, False
        with _stop_signals() as stop, bar:
            while step < num_train_steps:
                made = min(
                    steps_per_call,
                    num_train_steps - step,
                    *(every - step % every for every in boundaries),
                )
                status = tf.constant([float(stop.is_set()), time_spent()])
                with _lost_workers(checkpointer):
                    logs, outcomes, status = (
                        self._train_step.one(iterator, status)
                        if made == 1
                        else self._train_step.many(
                            iterator, status, tf.constant(made)
                        )
                    )
                skipped.look_at(outcomes.numpy(), step)
                step += made
                logs = {name: float(value) for name, value in logs.items()}
                if bar.due(step):
                    bar.examples_per_unit = sizes.at(step - 1)
                    bar.update(step, **logs)
                with bar.paused():
                    done = any([hook(step, logs) for hook in hooks])
                # Another worker may have received the signal. With one worker
                # there is no need to wait for the next step.
                stopping, spent = status.numpy()
                if self.strategy.num_replicas_in_sync == 1:
                    stopping, spent = stop.is_set(), time_spent()
                is_over = spent >= 1 and step < num_train_steps
                done = done or stopping or is_over or step == num_train_steps
                # While steps are skipped nothing is learned, and the weights
                # may be the cause, so keep the earlier checkpoints.
                save_is_due |= step % save_checkpoints_steps == 0
                if checkpointer and (
                    done or (save_is_due and not skipped.in_a_row)
                ):
                    with bar.paused():
                        checkpointer.save(step)
                    save_is_due = False
                if stopping:
                    logging.warning(
                        "Stopped after step %d, which is saved; rerun the "
                        "same command to resume.",
                        step,
                    )
                    raise SystemExit(INTERRUPTED_STATUS)
                if is_over:
                    logging.info("Reached --max_hours after step %d.", step)
                if done:
                    break

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
        found_nan = False
        batches = progress.track(dataset, num_batches, "batch", label)
        for number, features in enumerate(batches, start=1):
            outputs = tf.nest.map_structure(
                np.asarray, self._forward(_for_model(features), kernels)
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


def _for_model(features: train_step.Features) -> train_step.Features:
    # Strings (guids, record names) are not inputs of the model.
    return {
        name: value
        for name, value in features.items()
        if value.dtype != tf.string
    }


def _has_nan(outputs: Any) -> bool:
    return any(
        np.isnan(array).any()
        for array in tf.nest.flatten(outputs)
        # NumPy has no kind for bfloat16; it reports "V".
        if array.dtype.kind in "fV"
    )


@contextlib.contextmanager
def _lost_workers(
    checkpointer: checkpointing.Checkpointer | None,
) -> Iterator[None]:
    """Reports a lost worker in a one-line error.

    If a worker is missing, a collective operation fails on all others and
    cannot be repeated in the same processes.
    """
    try:
        yield
    except (tf.errors.UnavailableError, tf.errors.AbortedError) as error:
        steps = checkpointer.steps() if checkpointer else []
        raise ConnectionError(
            "another worker was lost, so all stop; start every worker again "
            f"to resume from step {steps[-1] if steps else 0}"
        ) from error


@contextlib.contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Yields an event that SIGTERM and SIGINT set; a second signal kills."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before: dict[int, Any] = {}

    def handle(signum: int, frame: object) -> None:
        del frame
        stop.set()
        signal.signal(signum, before[signum])

    for signum in (signal.SIGTERM, signal.SIGINT):
        before[signum] = signal.signal(signum, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
