"""Defines BERT's optimizer (Adam with decoupled weight decay) and LAMB.

As in Google's code, AdamWeightDecayOptimizer adds the weight decay to the
update instead of the loss (Loshchilov and Hutter 2019). LAMB is for batches of
thousands of examples (You et al. 2019).

The method `compute_update` has the formula in plain TensorFlow.
accelerated_updates.py speeds it up, but does not change its results.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import keras
import tensorflow as tf

from training.optimizers.accelerated_updates import trace_update

# What a `TrainStep` updates the weights with. float16 needs loss scaling.
# Python cannot evaluate the alias, so quote a union with it.
TrainingOptimizer: TypeAlias = (
    "AdamWeightDecayOptimizer"
    " | keras.optimizers.LossScaleOptimizer[AdamWeightDecayOptimizer]"
)
GradientsAndVariables: TypeAlias = Sequence[tuple[tf.Tensor, tf.Variable]]


def loss_scale_of(optimizer: TrainingOptimizer) -> tf.Tensor | float:
    """Returns the factor by which a step multiplies its loss.

    Only float16 needs a factor, so that small gradients do not become 0.
    Otherwise it is 1.0.
    """
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        scale: tf.Tensor = optimizer.dynamic_scale.value
        return scale
    return 1.0


class AdamRates(NamedTuple):
    """The learning rate and other scalars in the update of a variable.

    Attributes:
        learning_rate: factor of the update.
        beta_1: decay of m.
        one_minus_beta_1: 1 - beta_1.
        beta_2: decay of v.
        one_minus_beta_2: 1 - beta_2.
    """

    learning_rate: tf.Tensor
    beta_1: float | tf.Tensor
    one_minus_beta_1: float | tf.Tensor
    beta_2: float | tf.Tensor
    one_minus_beta_2: float | tf.Tensor

    def where(self, is_applied: tf.Tensor, dtype: str) -> "AdamRates":
        """Returns these rates if `is_applied`, or rates that change nothing."""
        unchanging = AdamRates(
            learning_rate=tf.zeros((), dtype),
            beta_1=1.0,
            one_minus_beta_1=0.0,
            beta_2=1.0,
            one_minus_beta_2=0.0,
        )
        return AdamRates(
            *(
                tf.where(
                    is_applied, tf.convert_to_tensor(rate, dtype), other_rate
                )
                for rate, other_rate in zip(self, unchanging, strict=True)
            )
        )


class AdamUpdate(NamedTuple):
    """The update of a variable and of its moments by one gradient.

    Attributes:
        step: what to subtract from the variable.
        m: the next m.
        v: the next v.
    """

    step: tf.Tensor
    m: tf.Tensor
    v: tf.Tensor


@keras.saving.register_keras_serializable(package="bert")
class AdamWeightDecayOptimizer(keras.optimizers.Optimizer):
    """Adam with decoupled weight decay and, by default, no bias correction.

    For gradient g and variable w:

        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g ** 2
        w = w - learning_rate * (m / (sqrt(v) + epsilon) + decay * w)

    Keras's AdamW always corrects the bias of m and v. BERT's Adam does not, so
    its updates are up to 6.5 times larger in the first hundreds of steps. With
    `bias_correction`, m and v of step t are first divided by 1 - beta_1 ** t
    and 1 - beta_2 ** t. The caller must sum the gradients over all replicas.

    Args:
        learning_rate: float or schedule.
        weight_decay_rate: `decay` in the formula.
        beta_1: decay of m.
        beta_2: decay of v.
        epsilon: number added to the root of v.
        exclude_from_weight_decay: regular expressions. A variable whose path
            matches one of them is not decayed.
        bias_correction: whether to correct the bias of m and v.
        **kwargs: arguments of Keras's Optimizer, such as `name`.

    Attributes:
        always_corrects_bias: whether the class corrects the bias even without
            `bias_correction`.
    """

    always_corrects_bias: ClassVar[bool] = False
    slot_names = ("adam_m", "adam_v")

    def __init__(
        self,
        learning_rate: float
        | keras.optimizers.schedules.LearningRateSchedule = 1e-4,
        weight_decay_rate: float = 0.0,
        *,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-6,
        exclude_from_weight_decay: Iterable[str] | None = None,
        bias_correction: bool = False,
        **kwargs: object,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        # Keras's optimizers have a method `exclude_from_weight_decay`.
        self._excluded_patterns = [*(exclude_from_weight_decay or ())]
        self.bias_correction = bias_correction or self.always_corrects_bias

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the same optimizer.

        Keras writes them to a `.keras` file of a compiled model. Before Keras
        loads such a file, import this module.
        """
        return super().get_config() | {
            "weight_decay_rate": self.weight_decay_rate,
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
            "exclude_from_weight_decay": [*self._excluded_patterns],
            "bias_correction": self.bias_correction,
        }

    def compute_update(
        self,
        gradient: tf.Tensor,
        variable: tf.Tensor,
        *,
        m: tf.Tensor,
        v: tf.Tensor,
        rates: AdamRates,
        decay: float,
    ) -> AdamUpdate:
        """Computes how one gradient changes a variable, and assigns nothing.

        The docstring of the class contains the formula. All tensors have the
        shape of the variable.

        Args:
            gradient: gradient of the loss.
            variable: value of the variable.
            m: moving average of the gradients.
            v: moving average of the squared gradients.
            rates: the learning rate and the betas of this step.
            decay: rate of the variable's weight decay.
        """
        m = rates.beta_1 * m + rates.one_minus_beta_1 * gradient
        v = rates.beta_2 * v + rates.one_minus_beta_2 * tf.square(gradient)
        corrected_m, corrected_v = m, v
        if self.bias_correction:
            steps = tf.cast(self.iterations + 1, m.dtype)
            corrected_m = m / (1.0 - tf.cast(self.beta_1, m.dtype) ** steps)
            corrected_v = v / (1.0 - tf.cast(self.beta_2, v.dtype) ** steps)
        direction = corrected_m / (tf.sqrt(corrected_v) + self.epsilon)
        if decay:
            direction += decay * variable
        direction = self._rescale(direction, variable)
        return AdamUpdate(rates.learning_rate * direction, m, v)

    def _rescale(self, direction: tf.Tensor, variable: tf.Tensor) -> tf.Tensor:
        """Returns the direction of the update unchanged.

        LAMB overrides this method.
        """
        del variable
        return direction

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Creates m and v for each variable, filled with zeros."""
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = self.add_optimizer_variables(
            variables, list(self.slot_names)
        )
        # The method `_assign_update`, once traced for each shape.
        self._accelerated_assign = trace_update(self._assign_update)
        self._paths = [variable.path for variable in variables]
        self._decays: list[float] = []
        for variable in variables:
            # `_use_weight_decay` reads what Keras's method
            # `exclude_from_weight_decay` has set.
            is_decayed = self._use_weight_decay(variable) and not any(
                re.search(pattern, variable.path)
                for pattern in self._excluded_patterns
            )
            self._decays.append(self.weight_decay_rate if is_decayed else 0.0)

    def slots(self, variable: keras.Variable) -> dict[str, keras.Variable]:
        """Returns {slot name: slot variable}.

        Returns {} for a variable that this optimizer does not update.
        """
        if variable.path not in self._paths:
            return {}
        index = self._get_variable_index(variable)
        slots = (self._momentums[index], self._velocities[index])
        return dict(zip(self.slot_names, slots, strict=True))

    def update_step(
        self,
        gradient: tf.Tensor,
        variable: tf.Variable,
        learning_rate: tf.Tensor,
    ) -> None:
        """Updates one variable, and its m and v. Keras calls this method."""
        self._update(
            tf.convert_to_tensor(gradient),
            variable,
            self._rates(tf.cast(learning_rate, variable.dtype)),
        )

    def apply_scaled(
        self,
        grads: Sequence[tf.Tensor],
        variables: Sequence[keras.Variable],
        factor: tf.Tensor,
        is_applied: tf.Tensor,
    ) -> None:
        """Updates variables with gradients times a factor, or skips the step.

        A tf.cond that scales the gradients and calls `apply` would compute the
        same, but this method needs a third of the operations and fewer passes
        over memory. Does not increase `iterations`, and ignores Keras's
        options, such as `global_clipnorm`. Call this method only if the
        strategy uses one replica.

        Args:
            grads: dense gradients of `variables`.
            variables: variables that the optimizer was built with.
            factor: number that multiplies the gradients, float [].
            is_applied: False to skip the step and change nothing, bool [].
        """
        # Cast the rates once per dtype, because most variables use the same.
        rates_of_dtype: dict[str, AdamRates] = {}
        factor_of_dtype: dict[str, tf.Tensor] = {}
        for dtype in {variable.dtype for variable in variables}:
            rates = self._rates(tf.cast(self.learning_rate, dtype))
            rates_of_dtype[dtype] = rates.where(is_applied, dtype)
            factor_of_dtype[dtype] = tf.where(
                is_applied, tf.cast(factor, dtype), 0.0
            )
        for gradient, variable in zip(grads, variables, strict=True):
            self._update(
                gradient,
                variable.value,
                rates_of_dtype[variable.dtype],
                factor_of_dtype[variable.dtype],
            )

    def _rates(self, learning_rate: tf.Tensor) -> AdamRates:
        beta_1, beta_2 = self.beta_1, self.beta_2
        return AdamRates(
            learning_rate, beta_1, 1.0 - beta_1, beta_2, 1.0 - beta_2
        )

    def _update(
        self,
        gradient: tf.Tensor,
        variable: tf.Variable,
        rates: AdamRates,
        factor: tf.Tensor | None = None,
    ) -> None:
        """Updates one variable, and its m and v, by one gradient.

        A `factor` multiplies the gradient.
        """
        # Keras's documentation of Optimizer tells subclasses to call this
        # private method.
        index = self._get_variable_index(variable)
        self._accelerated_assign(
            variable,
            m=self._momentums[index].value,
            v=self._velocities[index].value,
            gradient=tf.cast(gradient, variable.dtype),
            rates=rates,
            decay=self._decays[index],
            factor=factor,
        )

    def _assign_update(
        self,
        variable: tf.Variable,
        *,
        m: tf.Variable,
        v: tf.Variable,
        gradient: tf.Tensor,
        rates: AdamRates,
        decay: float,
        factor: tf.Tensor | None,
    ) -> None:
        """Updates a variable and its moments by a gradient times `factor`.

        `factor` is 0 in a skipped step, and None if it is always 1.
        """
        if factor is not None:
            # multiply_no_nan returns 0 for 0 times a non-finite value, so a
            # skipped step changes nothing. tf.where on the results would be
            # slow, because XLA does not vectorize it.
            gradient = tf.math.multiply_no_nan(gradient, factor)
        update = self.compute_update(
            gradient, variable, m=m, v=v, rates=rates, decay=decay
        )
        m.assign(update.m)
        v.assign(update.v)
        variable.assign_sub(update.step)

    def _all_reduce_sum_gradients(
        self, grads_and_vars: GradientsAndVariables
    ) -> GradientsAndVariables:
        """Leaves the sum over replicas to the caller.

        This overrides a private method, because Keras offers no public option.
        """
        return grads_and_vars


@keras.saving.register_keras_serializable(package="bert")
class LAMBOptimizer(AdamWeightDecayOptimizer):
    """Layer-wise adaptive moments (You et al. 2019, algorithm 2).

    For each variable w, with m and v as in Adam, bias-corrected:

        r = m / (sqrt(v) + epsilon) + decay * w
        w = w - learning_rate * (norm(w) / norm(r)) * r

    where the ratio of the norms is 1 if either norm is 0. Keras's Lamb does not
    add the decay to r. As in the paper, the ratio also scales variables that
    are excluded from decay (LayerNorm, biases).
    """

    always_corrects_bias = True

    def _rescale(self, direction: tf.Tensor, variable: tf.Tensor) -> tf.Tensor:
        variable_norm = tf.norm(variable)
        direction_norm = tf.norm(direction)
        ratio = tf.where(
            (variable_norm > 0) & (direction_norm > 0),
            tf.math.divide_no_nan(variable_norm, direction_norm),
            1.0,
        )
        return ratio * direction
