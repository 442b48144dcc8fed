"""What layers and models share: arguments, a base class, initial weights.

A constructor that passes arguments on declares their types, for example
`**arguments: Unpack[LayerArguments]`.
"""

import math
from collections.abc import Sequence
from typing import TypedDict, Unpack

import keras

from model_folders.bert_config import BertConfig
from modeling.tensors import Tensor


class LayerArguments(TypedDict, total=False):
    """Arguments of `keras.layers.Layer` that our layers and models accept."""

    name: str | None
    dtype: str | keras.DTypePolicy | None
    trainable: bool


class EncoderArguments(TypedDict, total=False):
    """Arguments of `BertModel` that a task model passes on to its encoder."""

    use_one_hot_embeddings: bool
    gradient_checkpointing: bool
    left_to_right: bool
    trim_padding: bool
    seed: int | None


class TaskModelArguments(EncoderArguments, LayerArguments, total=False):
    """Arguments that every task model accepts besides its own."""

    bilstm: bool


class ModelArguments(TaskModelArguments, total=False):
    """Arguments of any model. Only classifiers accept `num_labels`."""

    num_labels: int


class BertLayer(keras.layers.Layer):
    """Base class of the layers whose sizes a `BertConfig` determines.

    Args:
        config: sizes and dropout rates of the network.
        initializer: initializer of the layer's kernels and tables.
        **arguments: those of `keras.layers.Layer`.
    """

    def __init__(
        self,
        config: BertConfig,
        initializer: keras.initializers.Initializer,
        **arguments: Unpack[LayerArguments],
    ) -> None:
        super().__init__(**arguments)
        self.config = config
        self.initializer = initializer

    def create_layer_norm(self) -> keras.layers.LayerNormalization:
        """Returns a new layer normalization with the configured epsilon."""
        return keras.layers.LayerNormalization(
            epsilon=self.config.layer_norm_eps,
            name="LayerNorm",
            dtype=self.dtype_policy,
        )


@keras.saving.register_keras_serializable(package="bert")
class TruncatedNormal(keras.initializers.TruncatedNormal):
    """Samples a truncated normal distribution with its inverse CDF.

    This is twice as fast as Keras's initializer, which redraws values beyond
    two standard deviations.
    """

    def __call__(
        self, shape: Sequence[int], dtype: str | None = None
    ) -> Tensor:
        """Returns a tensor of random values with this shape and dtype."""
        dtype = keras.backend.standardize_dtype(dtype)
        limit = math.erf(math.sqrt(2.0))
        uniform = keras.random.uniform(
            shape,
            -limit,
            limit,
            # 16-bit floats are too coarse for a uniform draw.
            dtype=keras.backend.result_type(dtype, "float32"),
            seed=self.seed,
        )
        scale = self.stddev * math.sqrt(2.0)
        return keras.ops.cast(
            self.mean + scale * keras.ops.erfinv(uniform), dtype
        )


def all_layers(layer: keras.layers.Layer) -> list[keras.layers.Layer]:
    """Returns a layer and all layers inside it, each once.

    Uses a private method, because Keras's public list contains only the
    outermost layers of a model.
    """
    return layer._flatten_layers()
