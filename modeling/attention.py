"""Multi-head attention (Vaswani et al. 2017, 3.2; original: attention_layer).

B = batch, F = from length, T = to length, N = heads, H = size per head;
lengths count WordPieces.
"""

import math

import keras

from modeling.ops import create_initializer, dropout


@keras.saving.register_keras_serializable(package="bert")
class AttentionLayer(keras.layers.Layer):
    """Lets each position of `from_tensor` gather values from `to_tensor`.

    A masked score is lowered by 10000, not set to -inf, so a row that masks
    everything stays finite.

    Args:
        num_attention_heads: N, at least 1.
        size_per_head: H, at least 1.
        attention_probs_dropout_prob: in [0, 1), share of attention weights
            dropped when a call gives a `seed`.
        kernel_initializer: initializer of the three projections; the
            default is a truncated normal of standard deviation 0.02.

    Call arguments:
        from_tensor: float [B, F, width].
        to_tensor: float [B, T, width]; `from_tensor` itself for
            self-attention. The widths may differ.
        attention_mask: int [B, F, T] or [B, 1, T], 1 = may attend;
            None = all may.
        seed: int [2] (`keras.random.SeedGenerator.next`), seed of the
            dropout; None = no dropout.

    Returns:
        float [B, F, N * H].

    Raises:
        ValueError: an input has a wrong rank, or an argument is out of range.
    """

    def __init__(
        self,
        num_attention_heads=1,
        size_per_head=512,
        attention_probs_dropout_prob=0.0,
        kernel_initializer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        for name, size in (
            ("num_attention_heads", num_attention_heads),
            ("size_per_head", size_per_head),
        ):
            if size < 1:
                raise ValueError(
                    f"`{name}` must be at least 1. Received: {name}={size}"
                )
        if not 0 <= attention_probs_dropout_prob < 1:
            raise ValueError(
                "`attention_probs_dropout_prob` must be in [0, 1). Received: "
                f"attention_probs_dropout_prob={attention_probs_dropout_prob}"
            )
        self.num_attention_heads = num_attention_heads
        self.size_per_head = size_per_head
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.kernel_initializer = keras.initializers.get(
            kernel_initializer
        ) or create_initializer(0.02)
        self.query = self._create_projection("query")
        self.key = self._create_projection("key")
        self.value = self._create_projection("value")

    def _create_projection(self, name):
        initializer = self.kernel_initializer
        seed = getattr(initializer, "seed", None)
        # Used again, an initializer without a generator repeats its values.
        if not isinstance(seed, keras.random.SeedGenerator):
            initializer = initializer.clone()
        return keras.layers.Dense(
            self.num_attention_heads * self.size_per_head,
            kernel_initializer=initializer,
            name=name,
            dtype=self.dtype_policy,
        )

    def build(self, from_tensor_shape, to_tensor_shape):
        """Creates the three projections."""
        for name, shape in (
            ("from_tensor", from_tensor_shape),
            ("to_tensor", to_tensor_shape),
        ):
            if len(shape) != 3:
                raise ValueError(
                    f"`{name}` must have rank 3, [batch, length, width]. "
                    f"Received: shape {tuple(shape)}"
                )
        self.query.build(from_tensor_shape)
        self.key.build(to_tensor_shape)
        self.value.build(to_tensor_shape)

    def call(self, from_tensor, to_tensor, attention_mask=None, seed=None):
        """Attends; see the class."""
        # [B, N, F, H], [B, N, T, H] and [B, N, T, H]
        query_layer = self._split_heads(self.query(from_tensor))
        key_layer = self._split_heads(self.key(to_tensor))
        value_layer = self._split_heads(self.value(to_tensor))

        # [B, N, F, T]
        attention_scores = keras.ops.matmul(
            query_layer, keras.ops.swapaxes(key_layer, -1, -2)
        ) * (1.0 / math.sqrt(self.size_per_head))
        if attention_mask is not None:
            mask = keras.ops.cast(attention_mask, attention_scores.dtype)
            adder = (1.0 - mask) * -10000.0
            # [B, F, T] -> [B, 1, F, T]: the same for all heads.
            attention_scores = attention_scores + adder[:, None, :, :]
        attention_probs = self._softmax(attention_scores)
        # This drops whole positions from view, as the original does.
        attention_probs = dropout(
            attention_probs, self.attention_probs_dropout_prob, seed
        )

        # [B, N, F, H] -> [B, F, N, H] -> [B, F, N * H]
        context_layer = keras.ops.matmul(attention_probs, value_layer)
        context_layer = keras.ops.transpose(context_layer, (0, 2, 1, 3))
        batch_size, from_length = keras.ops.shape(context_layer)[:2]
        return keras.ops.reshape(
            context_layer,
            (
                batch_size,
                from_length,
                self.num_attention_heads * self.size_per_head,
            ),
        )

    def _split_heads(self, projected):
        """[B, length, N * H] -> [B, N, length, H]."""
        batch_size, length = keras.ops.shape(projected)[:2]
        projected = keras.ops.reshape(
            projected,
            (batch_size, length, self.num_attention_heads, self.size_per_head),
        )
        return keras.ops.transpose(projected, (0, 2, 1, 3))

    def _softmax(self, attention_scores):
        """Softmax over T, in float32 at least, given back in its own dtype."""
        dtype = keras.backend.result_type(attention_scores.dtype, "float32")
        attention_probs = keras.ops.softmax(
            keras.ops.cast(attention_scores, dtype), axis=-1
        )
        return keras.ops.cast(attention_probs, attention_scores.dtype)

    def get_config(self):
        """Returns the constructor's arguments."""
        return {
            **super().get_config(),
            "num_attention_heads": self.num_attention_heads,
            "size_per_head": self.size_per_head,
            "attention_probs_dropout_prob": self.attention_probs_dropout_prob,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }
