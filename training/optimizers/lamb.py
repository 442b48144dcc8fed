"""LAMB, the optimizer for batches of thousands (You et al. 2019)."""

from typing import Any

import keras
import tensorflow as tf

from training.optimizers.adamw import AdamWeightDecayOptimizer


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

    def _correct(
        self, m: tf.Tensor, v: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        steps = tf.cast(self.iterations + 1, m.dtype)
        return (
            m / (1.0 - tf.pow(tf.cast(self.beta_1, m.dtype), steps)),
            v / (1.0 - tf.pow(tf.cast(self.beta_2, v.dtype), steps)),
        )

    def _scale(self, update: tf.Tensor, variable: tf.Tensor) -> tf.Tensor:
        variable_norm, update_norm = tf.norm(variable), tf.norm(update)
        ratio = tf.where(
            (variable_norm > 0) & (update_norm > 0),
            tf.math.divide_no_nan(variable_norm, update_norm),
            1.0,
        )
        return ratio * update
