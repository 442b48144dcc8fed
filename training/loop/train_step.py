"""Runs training steps, on one or more devices, with gradient accumulation.

A loss (modeling/base_loss.py) returns sums over examples, and weights by which
to divide these sums. Each replica or accumulation step computes the sums of one
piece of a batch, and divides them by the weights of the complete batch. So the
loss and its gradient do not depend on how the batch is split.
"""

import enum
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

import keras
import numpy as np
import tensorflow as tf
from keras.optimizers import LossScaleOptimizer

from modeling.base_loss import BatchLoss
from modeling.features import select_features
from modeling.tensors import Features, Tensor
from training.optimizers.adamw import TrainingOptimizer
from training.training_config import TrainingFlags

ValuesT = TypeVar("ValuesT")


class Outcome(enum.IntEnum):
    """What became of a step.

    Attributes:
        MADE: it updated the weights.
        OVERFLOWED: it was skipped, because float16's loss scaling made the
            gradient overflow, which is normal.
        NOT_FINITE: it was skipped, because its loss or gradient is not finite.
    """

    MADE = 0
    OVERFLOWED = 1
    NOT_FINITE = 2


class StepResult(NamedTuple):
    """Logs and outcomes of one or several steps.

    Attributes:
        logs: {name: value} of the last step: the total loss and its terms, the
            learning rate and the norm of the gradient.
        outcomes: `Outcome` of each step, int [number of steps].
    """

    logs: dict[str, float]
    outcomes: np.ndarray


class Trainable(Protocol):
    """A model that `TrainStep` can train: a TaskModel or a Distiller."""

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """The variables to update, in the order of their gradients."""

    def draw_seed(self) -> Tensor:
        """Draws the dropout seed of the next call."""

    def __call__(
        self, features: Features, *, training: bool, seed: Tensor
    ) -> Any:  # noqa: ANN401  Outputs, or a Distilled for a DistillationLoss
        """Returns the outputs of the network, which the loss reads."""


class _Gradients(NamedTuple):
    """Gradients and losses of a batch, or of a part of it.

    Attributes:
        dense: {index of a trainable variable: dense gradient} for the variables
            that the loss depends on.
        squares: {index: sum of squares} for the gradients that were
            tf.IndexedSlices.
        losses: {name: loss}.
    """

    dense: dict[int, tf.Tensor]
    squares: dict[int, tf.Tensor]
    losses: dict[str, Tensor]


class _ReducedGradients(NamedTuple):
    """Gradients and losses after they are summed over all replicas.

    Attributes:
        gradients: {index of a trainable variable: gradient}, not clipped yet.
        clip_factor: factor by which to multiply the gradients to clip them.
        norm: global norm of the gradients.
        losses: {name: loss}.
        outcome: an `Outcome`, int [].
    """

    gradients: dict[int, tf.Tensor]
    clip_factor: tf.Tensor
    norm: tf.Tensor
    losses: dict[str, Tensor]
    outcome: tf.Tensor


class _StepTensors(NamedTuple):
    """The tensors of a StepResult, inside of a tf.function."""

    logs: dict[str, tf.Tensor]
    outcomes: tf.Tensor


class TrainStep:
    """Reads the next batch, and updates the model.

    A step whose loss or gradient is not finite does not change the weights.
    Each step sums the gradients over all replicas, clips them by their global
    norm, and applies them. One device without loss scaling clips within the
    optimizer's update, all others clip the gradients before it.

    Args:
        model: what to train, already built. Its argument `seed`
            (modeling/bert.py) determines the dropout.
        loss: the loss of the model.
        optimizer: an AdamWeightDecayOptimizer, in a LossScaleOptimizer for
            float16.
        flags: flags of the training loop. The step reads how many batches it
            accumulates, and the norm to which it clips the gradient.
        jit_compile: whether XLA compiles the gradients.
        strategy: the tf.distribute strategy that created the variables.
    """

    def __init__(
        self,
        model: Trainable,
        loss: BatchLoss[Any],
        optimizer: TrainingOptimizer,
        flags: TrainingFlags,
        jit_compile: bool = False,
        strategy: tf.distribute.Strategy | None = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.strategy = strategy or tf.distribute.get_strategy()
        self._clip_norm = flags.clip_norm
        self._num_parts = flags.gradient_accumulation_steps
        with self.strategy.scope():
            self._is_alone = not tf.distribute.has_strategy()
        self._gradients_of_batch = self._accumulate_gradients
        if jit_compile:
            self._gradients_of_batch = tf.function(
                self._accumulate_gradients, jit_compile=True, autograph=False
            )
        self._compiled_step = tf.function(self._run_step, autograph=False)
        self._compiled_steps = tf.function(self._run_steps, autograph=False)
        with self.strategy.scope():
            optimizer.build(model.trainable_variables)

    def __call__(
        self, batches: Iterator[Features], num_steps: int = 1
    ) -> StepResult:
        """Runs steps on the next batches."""
        logs, outcomes = (
            self._compiled_step(batches)
            if num_steps == 1
            else self._compiled_steps(batches, tf.constant(num_steps))
        )
        values = {name: float(value) for name, value in logs.items()}
        return StepResult(values, outcomes.numpy())

    def _run_step(self, batches: Iterator[Features]) -> _StepTensors:
        """Runs one step, inside of a tf.function.

        Every replica computes the gradients of its part of the batch, and
        applies their sum over all replicas.
        """
        features = next(batches)
        reduced: _ReducedGradients = self.strategy.run(
            self._reduce_gradients, args=(features,)
        )
        norm, losses, outcome = tf.nest.map_structure(
            # Every replica computed the same reduced value, so read the first.
            lambda value: self.strategy.experimental_local_results(value)[0],
            (reduced.norm, reduced.losses, reduced.outcome),
        )
        step = tf.convert_to_tensor(self.optimizer.iterations.value)
        logs = losses | {
            "learning_rate": tf.convert_to_tensor(self.optimizer.learning_rate),
            "gradient_norm": norm,
        }
        is_made = outcome == Outcome.MADE
        self._apply_gradients(reduced.gradients, reduced.clip_factor, is_made)
        # Skipped batches count too, so that the step number determines the
        # batch.
        self.optimizer.iterations.assign(step + 1)
        return _StepTensors(logs, outcome[tf.newaxis])

    def _apply_gradients(
        self,
        grads: dict[int, tf.Tensor],
        clip_factor: tf.Tensor,
        is_made: tf.Tensor,
    ) -> None:
        """Clips the gradients, and applies them if `is_made` is true."""
        variables = [self.model.trainable_variables[index] for index in grads]
        optimizer = self.optimizer
        if self._is_alone and not isinstance(optimizer, LossScaleOptimizer):
            # Clip within the optimizer's update, which is faster.
            optimizer.apply_scaled(
                [*grads.values()], variables, clip_factor, is_made
            )
            return

        def apply_clipped(
            grads: dict[int, tf.Tensor], factor: tf.Tensor
        ) -> None:
            clipped = [
                grad * tf.cast(factor, grad.dtype) for grad in grads.values()
            ]
            optimizer.apply(clipped, variables)

        def apply() -> tf.Tensor:
            self.strategy.run(apply_clipped, args=(grads, clip_factor))
            return tf.constant(True)

        if isinstance(optimizer, LossScaleOptimizer):
            # Keras's loss scaling checks the gradients itself, and halves the
            # scale if they are not finite.
            apply()
        else:
            # Put tf.cond outside of strategy.run, because an update inside a
            # condition must not leave the replica context.
            tf.cond(is_made, apply, lambda: tf.constant(False))

    def _run_steps(
        self, batches: Iterator[Features], num_steps: tf.Tensor
    ) -> _StepTensors:
        """Runs several steps in one call, inside of a tf.function.

        On TPUs, each return to the host is expensive.
        """

        def run_one(
            index: tf.Tensor, outcomes: tf.TensorArray
        ) -> tuple[tf.Tensor, tf.TensorArray]:
            outcome = self._run_step(batches).outcomes[0]
            return index + 1, outcomes.write(index, outcome)

        _, outcomes = tf.while_loop(
            lambda index, _: index < num_steps - 1,
            run_one,
            (0, tf.TensorArray(tf.int32, num_steps, element_shape=[])),
            parallel_iterations=1,
        )
        logs, outcome = self._run_step(batches)
        outcomes = outcomes.write(num_steps - 1, outcome[0])
        return _StepTensors(logs, outcomes.stack())

    def _reduce_gradients(self, features: Features) -> _ReducedGradients:
        """Sums the gradients over all replicas."""
        weights = _all_reduce(self.loss.weights(features))
        seed = self._offset_seed(
            self.model.draw_seed(),
            tf.distribute.get_replica_context().replica_id_in_sync_group,
        )
        grads, squares, losses = _all_reduce(
            self._gradients_of_batch(features, weights, seed)
        )
        dense = [grad for index, grad in grads.items() if index not in squares]
        every_square = [*squares.values(), *map(_sum_of_squares, dense)]
        # Avoid add_n: in larger graphs its order of summation differs between
        # processes.
        norm = tf.sqrt(tf.reduce_sum(tf.stack(every_square)))
        scale = tf.cast(self._loss_scale(), norm.dtype)
        outcome = _find_outcome(losses["loss"], norm, scale)
        clip_factor = _find_clip_factor(norm, self._clip_norm * scale)
        return _ReducedGradients(
            gradients=grads,
            clip_factor=clip_factor,
            norm=norm / scale,
            losses=losses,
            outcome=outcome,
        )

    def _offset_seed(self, seed: Tensor, index: tf.Tensor) -> Tensor:
        """Returns the seed of a replica or of an accumulation step.

        One seed is drawn per step. Each replica and accumulation step adds a
        different multiple of 1,000,003 to it, and each dropout call then adds
        its own index. A model contains fewer dropout calls, so no two calls of
        a step use the same seed.
        """
        return seed + tf.cast(tf.stack([index * 1_000_003, 0]), seed.dtype)

    def _accumulate_gradients(
        self, features: Features, weights: Features, seed: Tensor
    ) -> _Gradients:
        """Adds up the gradients and losses of a batch's micro-batches."""
        num_parts = self._num_parts
        if num_parts == 1:
            return self._part_gradients(features, weights, seed)
        parts = _split_batch(features, num_parts)

        @functools.partial(tf.function, autograph=False)
        def part_gradients_at(index: tf.Tensor) -> _Gradients:
            part_seed = self._offset_seed(
                seed, index * self.strategy.num_replicas_in_sync
            )
            part = _take_part(parts, index, features)
            return self._part_gradients(part, weights, part_seed)

        def add_part(
            index: tf.Tensor, sums: _Gradients
        ) -> tuple[tf.Tensor, _Gradients]:
            gradients = part_gradients_at(index)
            return index + 1, tf.nest.map_structure(tf.add, sums, gradients)

        # Start from zeros, not from the first micro-batch. Computed outside the
        # loop, the first micro-batch would keep activations that should be
        # recomputed, and more than double the memory.
        first = tf.constant(0)
        sums: _Gradients = _create_zeros(part_gradients_at, first)
        _, sums = tf.while_loop(
            lambda index, _: index < num_parts,
            add_part,
            (first, sums),
            parallel_iterations=1,
        )
        return sums

    def _part_gradients(
        self, features: Features, weights: Features, seed: Tensor
    ) -> _Gradients:
        """Returns the gradients and losses of one micro-batch.

        `weights` are the weights of the complete batch, by which to divide the
        sums.
        """
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            inputs = select_features(self.model, features)
            outputs = self.model(inputs, training=True, seed=seed)
            sums = self.loss.sums(outputs, features)
            means = self.loss.means(sums, weights)
            total = tf.add_n([*means.values()])
            scaled = total * tf.cast(self._loss_scale(), total.dtype)
        dense: dict[int, tf.Tensor] = {}
        squares: dict[int, tf.Tensor] = {}
        grads = tape.gradient(
            scaled, [variable.value for variable in variables]
        )
        for index, grad in enumerate(grads):
            # As in Google's code, a variable that the loss does not depend on
            # (a span labeler's pooler) does not change, not even by weight
            # decay.
            if grad is None:
                continue
            if isinstance(grad, tf.IndexedSlices):
                squares[index] = _sum_of_squares(grad)
            dense[index] = tf.convert_to_tensor(grad)
            # IndexedSlices do not record the variable's number of rows.
            dense[index].set_shape(variables[index].shape)
        return _Gradients(dense, squares, {**means, "loss": total})

    def _loss_scale(self) -> tf.Tensor | float:
        """Returns the factor of the loss, by which float16 scales it."""
        if isinstance(self.optimizer, LossScaleOptimizer):
            scale: tf.Tensor = self.optimizer.dynamic_scale.value
            return scale
        return 1.0


def _find_outcome(loss: Tensor, norm: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns the outcome of a step, by the loss and the gradient's norm."""
    # If the loss is finite and the loss scale is above 1, the scale may be the
    # only reason why the gradient is not finite.
    is_finite = tf.math.is_finite(loss)
    is_overflow = is_finite & (scale > 1)
    skipped = tf.where(is_overflow, Outcome.OVERFLOWED, Outcome.NOT_FINITE)
    is_made = tf.math.is_finite(norm) & is_finite
    return tf.where(is_made, Outcome.MADE, skipped)


def _find_clip_factor(norm: tf.Tensor, limit: tf.Tensor) -> tf.Tensor:
    """Returns what clips gradients of this global norm to the limit.

    As in tf.clip_by_global_norm, it is NaN if the norm is not finite.
    """
    factor = limit * tf.minimum(1.0 / norm, 1.0 / limit)
    return tf.where(tf.math.is_finite(norm), factor, np.nan)


def _split_batch(features: Features, num_parts: int) -> Features:
    """Returns the features of micro-batches, [num_parts, examples, ...]."""

    def split(values: tf.Tensor) -> tf.Tensor:
        shape = tf.concat([[num_parts, -1], tf.shape(values)[1:]], 0)
        return tf.reshape(values, shape)

    parts: Features = tf.nest.map_structure(split, features)
    return parts


def _take_part(
    parts: Features, index: tf.Tensor, features: Features
) -> Features:
    """Returns the features of one micro-batch, [examples, ...].

    Args:
        parts: result of `_split_batch`.
        index: number of the micro-batch, int [].
        features: features of the batch, whose static shapes `parts` has lost.
    """
    part: dict[str, tf.Tensor] = tf.nest.map_structure(
        lambda values: values[index], parts
    )
    for name, values in part.items():
        values.set_shape([None, *features[name].shape[1:]])
    return part


def _create_zeros(
    function: tf.types.experimental.PolymorphicFunction, *arguments: tf.Tensor
) -> Any:  # noqa: ANN401  The structure that `function` returns.
    """Returns zeros of the shapes that a function returns, without its call."""
    outputs = function.get_concrete_function(*arguments).structured_outputs
    return tf.nest.map_structure(
        lambda output: tf.zeros(output.shape, output.dtype), outputs
    )


def _all_reduce(values: ValuesT) -> ValuesT:
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return values
    sums: ValuesT = context.all_reduce(tf.distribute.ReduceOp.SUM, values)
    return sums


def _sum_of_squares(gradient: tf.Tensor | tf.IndexedSlices) -> tf.Tensor:
    """Computes a gradient's sum of squares for the global norm.

    As in Google's code, each slice of tf.IndexedSlices (the word embeddings in
    fine-tuning) is squared separately: a token that occurs twice adds two
    squares.
    """
    if isinstance(gradient, tf.IndexedSlices):
        gradient = gradient.values
    return 2.0 * tf.nn.l2_loss(gradient)
