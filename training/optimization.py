"""The original's optimizer, learning rate schedule and gradient clipping.

Adam without bias correction, with weight decay added to the update rather
than to the loss (Loshchilov and Hutter 2019), as in the original's
AdamWeightDecayOptimizer; LAMB for large batches (You et al. 2019).
"""

import functools
import math
import re

import keras
import tensorflow as tf

# Elements of a variable from which compiling its update pays.
_LEAST_COMPILED = 65536
# LayerNorm's variables and every bias are not decayed (create_optimizer).
EXCLUDE_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")


@keras.saving.register_keras_serializable(package="bert")
class WarmupPolynomialDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear warmup, then polynomial decay to 0 (create_optimizer).

    The original decays from step 0, not from the end of the warmup, so the
    rate falls by `num_warmup_steps / num_train_steps` of its peak in the step
    after the warmup. `continuous=True` decays from the warmup's end instead.

    Args:
        initial_learning_rate: the peak, reached at the end of the warmup.
        num_train_steps: the step at which the rate is 0.
        num_warmup_steps: steps of warmup, 0 for none. As in the original
            it may be longer than the training, which then ends below the peak.
        power: exponent of the decay; 1 is linear.
        continuous: False for the original's jump.
    """

    def __init__(
        self,
        initial_learning_rate,
        num_train_steps,
        num_warmup_steps=0,
        power=1.0,
        continuous=False,
    ):
        if num_train_steps < 1 or num_warmup_steps < 0:
            raise ValueError(
                "A schedule takes num_train_steps >= 1 and num_warmup_steps "
                f">= 0. Received: {num_train_steps=}, {num_warmup_steps=}"
            )
        self.initial_learning_rate = initial_learning_rate
        self.num_train_steps = num_train_steps
        self.num_warmup_steps = num_warmup_steps
        self.power = power
        self.continuous = continuous

    def __call__(self, step):
        """Returns the rate of the update that follows `step` others.

        In float64, which a float64 model needs and which counts any number of
        steps exactly; the optimizer casts it to the variables' type.
        """
        step = tf.cast(step, tf.float64)
        peak = tf.constant(self.initial_learning_rate, tf.float64)
        start = self.num_warmup_steps if self.continuous else 0
        length = max(self.num_train_steps - start, 1)
        done = tf.clip_by_value((step - start) / length, 0.0, 1.0)
        decayed = peak * (1.0 - done) ** self.power
        if not self.num_warmup_steps:
            return decayed
        warming_up = peak * step / self.num_warmup_steps
        return tf.where(step < self.num_warmup_steps, warming_up, decayed)

    def get_config(self):
        """Returns the arguments this schedule was made with."""
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "num_train_steps": self.num_train_steps,
            "num_warmup_steps": self.num_warmup_steps,
            "power": self.power,
            "continuous": self.continuous,
        }


@keras.saving.register_keras_serializable(package="bert")
class AdamWeightDecayOptimizer(keras.optimizers.Optimizer):
    """Adam with decoupled weight decay and no bias correction.

    For gradient g and parameter w:

        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g ** 2
        w = w - learning_rate * (m / (sqrt(v) + epsilon) + decay * w)

    Keras's own AdamW always corrects the bias of m and v; BERT's does not, so
    its early updates are smaller.

    Args:
        learning_rate: float or schedule.
        weight_decay_rate: `decay` above.
        beta_1: decay of m.
        beta_2: decay of v.
        epsilon: added to the root of v.
        exclude_from_weight_decay: patterns searched for in a variable's path;
            a variable that matches one is not decayed.
        learning_rate_factors: [pattern, factor] pairs; the first pattern found
            in a variable's path multiplies its rate (layer-wise decay).
        aggregate_gradients: True sums the gradients of all replicas, as
            Keras's own optimizers do; False where the caller has summed them.
        name: name of the optimizer.
        **kwargs: Keras's own (`global_clipnorm`, `use_ema`, ...).
    """

    slot_names = ("adam_m", "adam_v")

    def __init__(
        self,
        learning_rate=1e-4,
        weight_decay_rate=0.0,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-6,
        exclude_from_weight_decay=None,
        learning_rate_factors=None,
        aggregate_gradients=True,
        name="AdamWeightDecayOptimizer",
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.exclude_from_weight_decay = list(exclude_from_weight_decay or ())
        self.learning_rate_factors = [
            list(pair) for pair in learning_rate_factors or ()
        ]
        self.aggregate_gradients = aggregate_gradients

    def build(self, variables):
        """Creates m and v, zeros of each variable's shape."""
        if self.built:
            return
        super().build(variables)
        self._momentums, self._velocities = self.add_optimizer_variables(
            variables, list(self.slot_names)
        )
        self._decays = [self._decay_of(v.path) for v in variables]
        self._factors = [self._factor_of(v.path) for v in variables]

    def _decay_of(self, path):
        if any(re.search(p, path) for p in self.exclude_from_weight_decay):
            return 0.0
        return self.weight_decay_rate

    def _factor_of(self, path):
        for pattern, factor in self.learning_rate_factors:
            if re.search(pattern, path):
                return factor
        return 1.0

    def slots(self, variable):
        """Returns {slot name: slot variable} of a trainable variable."""
        index = self._get_variable_index(variable)
        slots = (self._momentums[index], self._velocities[index])
        return dict(zip(self.slot_names, slots, strict=True))

    def update_step(self, gradient, variable, learning_rate):
        """Updates one variable and its slots."""
        self._update_variable(
            tf.convert_to_tensor(gradient), variable, learning_rate
        )

    @property
    def takes_scaled(self):
        """Whether none of Keras's own options asks for more than an update."""
        return not (
            self.use_ema
            or self.weight_decay
            or self.clipnorm
            or self.clipvalue
            or self.global_clipnorm
            or self.gradient_accumulation_steps
        )

    def apply_scaled(self, grads, variables, factor, made):
        """Takes a step on gradients that are still to be clipped.

        As `apply` of `factor` times the gradients under tf.cond, but with
        fewer passes over memory, and a third of its operations to trace. The
        step is not counted. Only where `takes_scaled`, and not for replicas
        of a strategy.

        Args:
            grads: dense gradients of `variables`.
            variables: variables that the optimizer was built with.
            factor: float tensor [].
            made: bool tensor []; False leaves variables and slots alone.
        """
        # Once, not for each variable: they are of one type, as a rule.
        rate, factor = (
            tf.cast(value, variables[0].dtype)
            for value in (self.learning_rate, factor)
        )
        for gradient, variable in zip(grads, variables, strict=True):
            self._update_variable(gradient, variable.value, rate, factor, made)

    def _update_variable(
        self, gradient, variable, learning_rate, factor=None, made=None
    ):
        index = self._get_variable_index(variable)
        slots = (self._momentums[index].value, self._velocities[index].value)
        dtype = variable.dtype
        gradient = tf.cast(gradient, dtype)
        learning_rate = tf.cast(learning_rate, dtype)
        if made is not None:
            factor = tf.cast(factor, dtype)
        if self._factors[index] != 1.0:
            learning_rate *= self._factors[index]
        update = self._update
        # A strategy's variables are captured by the trace of the first of a
        # shape, not handed over as arguments.
        if not tf.distribute.has_strategy():
            size = variable.shape.num_elements()
            update = self._traced_updates[size >= _LEAST_COMPILED]
        update(
            gradient,
            variable,
            *slots,
            learning_rate,
            self._decays[index],
            factor,
            made,
        )

    def _update(
        self,
        gradient,
        variable,
        m,
        v,
        learning_rate,
        decay,
        factor=None,
        made=None,
    ):
        kept_m, taken_m = self.beta_1, 1.0 - self.beta_1
        kept_v, taken_v = self.beta_2, 1.0 - self.beta_2
        if made is not None:
            # A step that is not made changes nothing by these. To select
            # between results is slow: XLA does not vectorise it.
            kept_m, taken_m, kept_v, taken_v, learning_rate, factor = (
                tf.where(made, tf.convert_to_tensor(value, m.dtype), otherwise)
                for value, otherwise in (
                    (kept_m, 1.0),
                    (taken_m, 0.0),
                    (kept_v, 1.0),
                    (taken_v, 0.0),
                    (learning_rate, 0.0),
                    (factor, 0.0),
                )
            )
            # 0 times what is not finite is 0 here.
            gradient = tf.math.multiply_no_nan(gradient, factor)
        next_m = kept_m * m + taken_m * gradient
        next_v = kept_v * v + taken_v * tf.square(gradient)
        update = self._direction(next_m, next_v)
        if decay:
            update += decay * variable
        update = self._scale_update(update, variable)
        m.assign(next_m)
        v.assign(next_v)
        variable.assign_sub(learning_rate * update)

    @functools.cached_property
    def _traced_updates(self):
        # Traced once for each shape, and not put into the graph again and
        # again. Compiled, large ones are one pass over memory in place of ten.
        return {
            jit_compile: tf.function(
                self._update,
                jit_compile=jit_compile or None,
                autograph=False,
                experimental_attributes={"_noinline": True},
            )
            for jit_compile in (False, True)
        }

    def _direction(self, m, v):
        return m / (tf.sqrt(v) + self.epsilon)

    def _scale_update(self, update, variable):
        del variable
        return update

    def _all_reduce_sum_gradients(self, grads_and_vars):
        if self.aggregate_gradients:
            return super()._all_reduce_sum_gradients(grads_and_vars)
        return grads_and_vars

    def get_config(self):
        """Returns the arguments this optimizer was made with."""
        return super().get_config() | {
            "weight_decay_rate": self.weight_decay_rate,
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
            "exclude_from_weight_decay": self.exclude_from_weight_decay,
            "learning_rate_factors": self.learning_rate_factors,
            "aggregate_gradients": self.aggregate_gradients,
        }


@keras.saving.register_keras_serializable(package="bert")
class LAMBOptimizer(AdamWeightDecayOptimizer):
    """Layer-wise adaptive moments (You et al. 2019, algorithm 2).

    With m and v as in Adam, bias-corrected, and per variable w:

        r = m / (sqrt(v) + epsilon) + decay * w
        w = w - learning_rate * (norm(w) / norm(r)) * r

    where the ratio is 1 if either norm is 0. Keras's own Lamb leaves the decay
    out of r. Variables excluded from decay (LayerNorm, biases) are scaled by
    their ratio too, as in the paper's algorithm.
    """

    def __init__(self, *args, name="LAMBOptimizer", **kwargs):
        """Takes the arguments of AdamWeightDecayOptimizer."""
        super().__init__(*args, name=name, **kwargs)

    def _direction(self, m, v):
        steps = tf.cast(self.iterations + 1, m.dtype)
        m = m / (1.0 - tf.pow(tf.cast(self.beta_1, m.dtype), steps))
        v = v / (1.0 - tf.pow(tf.cast(self.beta_2, v.dtype), steps))
        return super()._direction(m, v)

    def _scale_update(self, update, variable):
        variable_norm = tf.norm(variable)
        update_norm = tf.norm(update)
        ratio = tf.math.divide_no_nan(variable_norm, update_norm)
        usable = (variable_norm > 0) & (update_norm > 0)
        return tf.where(usable, ratio, tf.ones_like(ratio)) * update


OPTIMIZERS = {"adamw": AdamWeightDecayOptimizer, "lamb": LAMBOptimizer}


def create_optimizer(
    init_lr,
    num_train_steps,
    num_warmup_steps,
    optimizer="adamw",
    lr_schedule="original",
    poly_power=1.0,
    learning_rate_factors=None,
    aggregate_gradients=True,
):
    """Returns the optimizer of the original's create_optimizer.

    Args:
        init_lr: peak learning rate.
        num_train_steps: length of training.
        num_warmup_steps: length of the warmup, 0 for none.
        optimizer: "adamw" (the original's) or "lamb".
        lr_schedule: "original" (with its jump) or "continuous".
        poly_power: exponent of the decay.
        learning_rate_factors: see AdamWeightDecayOptimizer.
        aggregate_gradients: see AdamWeightDecayOptimizer.
    """
    return OPTIMIZERS[optimizer](
        learning_rate=WarmupPolynomialDecay(
            init_lr,
            num_train_steps,
            num_warmup_steps,
            power=poly_power,
            continuous=lr_schedule == "continuous",
        ),
        weight_decay_rate=0.01,
        exclude_from_weight_decay=EXCLUDE_FROM_WEIGHT_DECAY,
        learning_rate_factors=learning_rate_factors,
        aggregate_gradients=aggregate_gradients,
    )


def layerwise_factors(num_hidden_layers, decay):
    """Returns learning rate factors that shrink towards the embeddings.

    The heads keep 1, the top layer gets `decay`, the one below it its square,
    the embeddings `decay ** (num_hidden_layers + 1)`.
    """
    if not 0.0 < decay <= 1.0:
        raise ValueError(
            f"A layer-wise decay lies in (0, 1]. Received: {decay}"
        )
    layers = [
        [rf"/layer_{index}/", math.pow(decay, num_hidden_layers - index)]
        for index in range(num_hidden_layers)
    ]
    embeddings = math.pow(decay, num_hidden_layers + 1)
    return [*layers, [r"/embeddings/", embeddings]]


def sum_of_squares(gradient):
    """Returns the sum of squares that the original's global norm counts.

    A gradient that is tf.IndexedSlices (word embeddings of the fine-tuning
    models) counts its slices before they are summed: a token that occurs
    twice counts twice.
    """
    values = (
        gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    )
    return 2.0 * tf.nn.l2_loss(values)
