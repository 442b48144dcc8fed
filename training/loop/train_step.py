"""Runs training steps, on one or more devices.

In a step, each replica computes the gradients of its part of the next batch
(replica_gradients.py). Their sums over all replicas (step_gradients.py) are
clipped and applied.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import keras
import tensorflow as tf
from keras.optimizers import LossScaleOptimizer

from data.arrays import IntArray
from modeling.base_loss import BatchLoss, LossTerms
from modeling.tensors import Features, Tensor
from training.config.training_config import TrainingOptions
from training.loop.replica_gradients import (
    GradientComputer,
    LossInputsT,
    ReplicaGradients,
    Trainable,
    offset_seed,
)
from training.loop.step_gradients import (
    Outcome,
    StepGradients,
    create_step_gradients,
    sum_over_replicas,
)
from training.optimizers.adamw import TrainingOptimizer, loss_scale_of


class StepResult(NamedTuple):
    """Logs and outcomes of one or several steps.

    Attributes:
        logs: {name: value} of the last step: the total loss and its terms, the
            learning rate and the norm of the gradient.
        outcomes: `Outcome` of each step, int [number of steps].
    """

    logs: dict[str, float]
    outcomes: IntArray


class _StepTensors(NamedTuple):
    """The tensors of a StepResult, inside of a tf.function."""

    logs: dict[str, tf.Tensor]
    outcomes: tf.Tensor


class TrainStep:
    """A training step, which reads a batch and updates the model's weights.

    It replaces Keras's `train_step`, so that micro-batches and replicas add up
    to the gradients of the complete batch, and a loss that is not finite does
    not destroy a long run.

    A step whose loss or gradient is not finite does not change the weights.
    Each step sums the gradients over all replicas, clips them by their global
    norm, and applies them. One device without loss scaling clips within the
    optimizer's update, all others clip the gradients before it.

    Args:
        model: what to train, already built. Its argument `seed`
            (modeling/bert.py) determines the dropout.
        loss: what the steps minimize.
        optimizer: an AdamWeightDecayOptimizer, in a LossScaleOptimizer for
            float16.
        training_options: flags of the training loop. The step reads how many
            batches it accumulates, and the norm to which it clips the gradient.
        jit_compile: whether XLA compiles the gradients.
        strategy: the tf.distribute strategy that created the variables.

    Attributes:
        trainable_variables: the variables that a step updates.
        optimizer: the optimizer that was passed.
        strategy: the strategy. By default, the strategy of the current scope.
    """

    def __init__(
        self,
        model: Trainable[LossInputsT],
        loss: BatchLoss[LossInputsT],
        optimizer: TrainingOptimizer,
        training_options: TrainingOptions,
        *,
        jit_compile: bool = False,
        strategy: tf.distribute.Strategy | None = None,
    ) -> None:
        self.trainable_variables = model.trainable_variables
        self.optimizer = optimizer
        self.strategy = strategy or tf.distribute.get_strategy()
        self._draw_seed = model.draw_seed
        self._divisors_of = loss.divisors
        self._clip_norm = training_options.clip_norm
        self._uses_default_strategy = _is_default_strategy(self.strategy)
        self._compute_replica_gradients = _compile_computer(
            GradientComputer(
                model,
                loss,
                optimizer,
                num_micro_batches=training_options.gradient_accumulation_steps,
                num_replicas=self.strategy.num_replicas_in_sync,
            ),
            jit_compile=jit_compile,
        )
        self._compiled_step = tf.function(self._run_step, autograph=False)
        self._compiled_steps = tf.function(self._run_steps, autograph=False)
        self._build_optimizer()

    def _build_optimizer(self) -> None:
        """Creates the variables of the optimizer, on the devices."""
        with self.strategy.scope():
            self.optimizer.build(self.trainable_variables)

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
        gradients: StepGradients = self.strategy.run(
            self._compute_step_gradients, args=(features,)
        )
        norm, losses, outcome = tf.nest.map_structure(
            # Every replica computed the same reduced value, so read the first.
            lambda value: self.strategy.experimental_local_results(value)[0],
            (gradients.norm, gradients.losses, gradients.outcome),
        )
        step = tf.convert_to_tensor(self.optimizer.iterations.value)
        logs = losses | {
            "learning_rate": tf.convert_to_tensor(self.optimizer.learning_rate),
            "gradient_norm": norm,
        }
        is_applied = outcome == Outcome.APPLIED
        self._apply_gradients(
            gradients.dense, gradients.clip_factor, is_applied
        )
        # Skipped batches count too, so that the step number determines the
        # batch.
        self.optimizer.iterations.assign(step + 1)
        return _StepTensors(logs, outcome[tf.newaxis])

    def _compute_step_gradients(self, features: Features) -> StepGradients:
        """Computes the gradients and the outcome of a step, on one replica.

        `features` are the replica's part of the batch.
        """
        divisors = sum_over_replicas(self._divisors_of(features))
        seed = offset_seed(
            self._draw_seed(),
            tf.distribute.get_replica_context().replica_id_in_sync_group,
        )
        return create_step_gradients(
            self._compute_replica_gradients(features, divisors, seed),
            clip_norm=self._clip_norm,
            loss_scale=loss_scale_of(self.optimizer),
        )

    def _apply_gradients(
        self,
        dense: dict[int, tf.Tensor],
        clip_factor: tf.Tensor,
        is_applied: tf.Tensor,
    ) -> None:
        """Clips the gradients, and applies them if `is_applied` is true."""
        optimizer = self.optimizer
        if isinstance(optimizer, LossScaleOptimizer):
            # Keras's loss scaling checks the gradients itself, and halves the
            # scale if they are not finite.
            self._apply_on_replicas(dense, clip_factor)
        elif self._uses_default_strategy:
            # Clip within the optimizer's update, which is faster.
            optimizer.apply_scaled(
                [*dense.values()],
                self._variables_of(dense),
                clip_factor,
                is_applied,
            )
        else:
            # Put tf.cond outside of strategy.run, because an update inside a
            # condition must not leave the replica context.
            tf.cond(
                is_applied,
                lambda: self._apply_on_replicas(dense, clip_factor),
                lambda: tf.constant(False),
            )

    def _apply_on_replicas(
        self, dense: dict[int, tf.Tensor], clip_factor: tf.Tensor
    ) -> tf.Tensor:
        """Clips and applies the gradients on all replicas. Returns True.

        A branch of tf.cond must return a tensor.
        """
        self.strategy.run(self._apply_clipped, args=(dense, clip_factor))
        return tf.constant(True)

    def _apply_clipped(
        self, dense: dict[int, tf.Tensor], clip_factor: tf.Tensor
    ) -> None:
        """Clips and applies the gradients, on one replica."""
        clipped = [
            gradient * tf.cast(clip_factor, gradient.dtype)
            for gradient in dense.values()
        ]
        self.optimizer.apply(clipped, self._variables_of(dense))

    def _variables_of(
        self, dense: dict[int, tf.Tensor]
    ) -> list[keras.Variable]:
        """Returns the variables of gradients, in the same order."""
        return [self.trainable_variables[index] for index in dense]

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


def _is_default_strategy(strategy: tf.distribute.Strategy) -> bool:
    # TensorFlow's default strategy has no public class to compare with. But
    # only in its scope, `has_strategy` is False.
    with strategy.scope():
        return not tf.distribute.has_strategy()


def _compile_computer(
    computer: GradientComputer[LossInputsT], *, jit_compile: bool
) -> Callable[[Features, LossTerms, Tensor], ReplicaGradients]:
    """Returns `GradientComputer.compute`, compiled by XLA if `jit_compile`."""
    if not jit_compile:
        return computer.compute
    return tf.function(computer.compute, jit_compile=True, autograph=False)
