"""Computes the gradients of one replica's part of a batch.

A replica computes them at once, or in micro-batches (gradient accumulation).

A loss (modeling/base_loss.py) returns sums over examples, and the divisors of
these sums. Each micro-batch and each replica computes its own sums, and divides
them by the divisors of the complete batch. So the loss and its gradients do not
depend on how the batch is split.
"""

from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import keras
import tensorflow as tf

from modeling.base_loss import BatchLoss, LossTerms
from modeling.features import select_features
from modeling.tensors import Features, Tensor
from training.optimizers.adamw import TrainingOptimizer, loss_scale_of

# A function (index) -> gradients of a micro-batch.
ComputeMicroBatch: TypeAlias = (
    "tf.types.experimental.PolymorphicFunction[[tf.Tensor], ReplicaGradients]"
)
# What a model returns in training, and its loss reads.
LossInputsT = TypeVar("LossInputsT")
LossInputsT_co = TypeVar("LossInputsT_co", covariant=True)


class Trainable(Protocol[LossInputsT_co]):
    """A model that can be trained: a TaskModel or a Distiller.

    It returns what its loss reads: the outputs of the model, or the
    `DistillerOutputs`.
    """

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """The variables to update, in the order of their gradients."""

    def draw_seed(self) -> Tensor:
        """Draws the dropout seed of the next call."""

    def __call__(
        self, features: Features, *, training: bool, seed: Tensor
    ) -> LossInputsT_co:
        """Returns the outputs of the network, which the loss reads."""


class ReplicaGradients(NamedTuple):
    """Losses and gradients of a replica's batch, or of a micro-batch in it.

    They are parts of sums: those of all micro-batches add up to those of the
    replica's batch, and those of all replicas to those of the step.

    Attributes:
        dense: {index of a trainable variable: dense gradient} for the variables
            that the loss depends on.
        squares: {index: sum of squares} for the gradients that were
            tf.IndexedSlices.
        losses: {name: loss}, the total as "loss".
    """

    dense: dict[int, tf.Tensor]
    squares: dict[int, tf.Tensor]
    losses: dict[str, Tensor]

    def global_norm(self) -> tf.Tensor:
        """Returns the norm of all gradients together, float []."""
        squares = [
            *self.squares.values(),
            *(
                _sum_of_squares(gradient)
                for index, gradient in self.dense.items()
                if index not in self.squares
            ),
        ]
        # Avoid add_n: in larger graphs its order of summation differs between
        # processes.
        return tf.sqrt(tf.reduce_sum(tf.stack(squares)))


class GradientComputer(Generic[LossInputsT]):
    """Computes the gradients of a replica's part of each batch.

    Args:
        model: the model to train, already built.
        loss: the loss to minimize.
        optimizer: the optimizer, whose loss scale multiplies the gradients.
        num_micro_batches: number of equal parts of a batch, which are computed
            in turn.
        num_replicas: number of replicas that compute at the same time.
    """

    def __init__(
        self,
        model: Trainable[LossInputsT],
        loss: BatchLoss[LossInputsT],
        optimizer: TrainingOptimizer,
        *,
        num_micro_batches: int,
        num_replicas: int,
    ) -> None:
        self._model = model
        self._loss = loss
        self._optimizer = optimizer
        self._num_micro_batches = num_micro_batches
        self._num_replicas = num_replicas

    def compute(
        self, features: Features, divisors: LossTerms, seed: Tensor
    ) -> ReplicaGradients:
        """Computes the losses and the gradients of a replica's batch.

        Args:
            features: features of the replica's examples, [examples, ...].
            divisors: {name of a loss term: divisor of its sum}, computed from
                the complete batch of all replicas by `BatchLoss.divisors`.
            seed: dropout seed of the replica, int [2].

        Returns:
            the gradients, multiplied by the loss scale, and the losses, which
            are not multiplied.
        """
        if self._num_micro_batches == 1:
            return self._compute_micro_batch(features, divisors, seed)
        return self._sum_micro_batches(features, divisors, seed)

    def _sum_micro_batches(
        self, features: Features, divisors: LossTerms, seed: Tensor
    ) -> ReplicaGradients:
        """Computes the micro-batches in turn, and adds up the results."""
        micro_batches = _split_batch(features, self._num_micro_batches)

        @tf.function(autograph=False)
        def compute_micro_batch_at(index: tf.Tensor) -> ReplicaGradients:
            micro_batch_seed = offset_seed(seed, index * self._num_replicas)
            micro_batch = _select_micro_batch(micro_batches, index, features)
            return self._compute_micro_batch(
                micro_batch, divisors, micro_batch_seed
            )

        def add_micro_batch(
            index: tf.Tensor, sums: ReplicaGradients
        ) -> tuple[tf.Tensor, ReplicaGradients]:
            gradients = compute_micro_batch_at(index)
            return index + 1, tf.nest.map_structure(tf.add, sums, gradients)

        # Start from zeros. If the first micro-batch were computed outside the
        # loop, it would keep activations that should be recomputed, and more
        # than double the memory.
        first = tf.constant(0)
        sums = _create_zeros(compute_micro_batch_at, first)
        _, sums = tf.while_loop(
            lambda index, _: index < self._num_micro_batches,
            add_micro_batch,
            (first, sums),
            parallel_iterations=1,
        )
        return sums

    def _compute_micro_batch(
        self, features: Features, divisors: LossTerms, seed: Tensor
    ) -> ReplicaGradients:
        """Runs the network forward and backward on a micro-batch."""
        variables = self._model.trainable_variables
        with tf.GradientTape() as tape:
            inputs = select_features(self._model, features)
            outputs = self._model(inputs, training=True, seed=seed)
            sums = self._loss.sums(outputs, features)
            means = self._loss.means(sums, divisors)
            total = tf.add_n([*means.values()])
            scale = loss_scale_of(self._optimizer)
            scaled = total * tf.cast(scale, total.dtype)
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
        return ReplicaGradients(dense, squares, {**means, "loss": total})


def _split_batch(features: Features, num_micro_batches: int) -> Features:
    """Returns the features [num_micro_batches, examples, ...]."""

    def split_values(values: tf.Tensor) -> tf.Tensor:
        shape = tf.concat([[num_micro_batches, -1], tf.shape(values)[1:]], 0)
        return tf.reshape(values, shape)

    micro_batches: Features = tf.nest.map_structure(split_values, features)
    return micro_batches


def _select_micro_batch(
    micro_batches: Features, index: tf.Tensor, features: Features
) -> Features:
    """Returns the features of one micro-batch, [examples, ...].

    `micro_batches` have lost their static shapes, which `features` still have.
    `index` is int [].
    """
    micro_batch: dict[str, tf.Tensor] = tf.nest.map_structure(
        lambda values: values[index], micro_batches
    )
    for name, values in micro_batch.items():
        values.set_shape([None, *features[name].shape[1:]])
    return micro_batch


def _create_zeros(
    compute: ComputeMicroBatch, index: tf.Tensor
) -> ReplicaGradients:
    """Returns zeros in the shapes of a function's results, without calling it.

    `index`, int [], is the index of any micro-batch.
    """
    concrete_function = compute.get_concrete_function(index)
    zeros: ReplicaGradients = tf.nest.map_structure(
        lambda output: tf.zeros(output.shape, output.dtype),
        concrete_function.structured_outputs,
    )
    return zeros


def _sum_of_squares(gradient: tf.Tensor | tf.IndexedSlices) -> tf.Tensor:
    """Computes a gradient's sum of squares for the global norm.

    As in Google's code, each slice of tf.IndexedSlices (the word embeddings in
    fine-tuning) is squared separately: a token that occurs twice adds two
    squares.
    """
    if isinstance(gradient, tf.IndexedSlices):
        gradient = gradient.values
    return 2.0 * tf.nn.l2_loss(gradient)


def offset_seed(seed: Tensor, index: tf.Tensor | int) -> Tensor:
    """Returns the dropout seed of a replica or of a micro-batch.

    One seed is drawn per step. Each replica and each micro-batch adds a
    different multiple of 1,000,003 to it, and each dropout call then adds its
    own index. A model contains fewer dropout calls, so no two calls of a step
    use the same seed.

    Args:
        seed: seed of the step, or of the replica, int [2].
        index: index of the replica, or index of the micro-batch times the
            number of replicas, int [].

    Returns:
        the seed, int [2].
    """
    return seed + tf.cast(tf.stack([index * 1_000_003, 0]), seed.dtype)
