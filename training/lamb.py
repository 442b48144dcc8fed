"""LAMB, the optimizer for batches of thousands (You et al. 2019)."""

from typing import Any

import keras
import tensorflow as tf

from training.adamw import AdamWeightDecayOptimizer, Rates


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes the arguments of AdamWeightDecayOptimizer."""
        super().__init__(*args, **{"name": "LAMBOptimizer"} | kwargs)

    def formula(
        self,
        gradient: tf.Tensor,
        variable: tf.Tensor,
        m: tf.Tensor,
        v: tf.Tensor,
        rates: Rates,
        decay: float,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns what to subtract from the variable, the next m and next v."""
        m = rates.keep_m * m + rates.take_m * gradient
        v = rates.keep_v * v + rates.take_v * tf.square(gradient)
        steps = tf.cast(self.iterations + 1, m.dtype)
        corrected_m = m / (1.0 - tf.pow(tf.cast(self.beta_1, m.dtype), steps))
        corrected_v = v / (1.0 - tf.pow(tf.cast(self.beta_2, v.dtype), steps))
        update = corrected_m / (tf.sqrt(corrected_v) + self.epsilon)
        if decay:
            update += decay * variable
        variable_norm, update_norm = tf.norm(variable), tf.norm(update)
        ratio = tf.where(
            (variable_norm > 0) & (update_norm > 0),
            tf.math.divide_no_nan(variable_norm, update_norm),
            1.0,
        )
        return rates.learning_rate * (ratio * update), m, v
