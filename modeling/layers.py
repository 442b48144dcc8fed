"""The base class of the layers, and all layers inside another."""

from typing import Unpack

import keras

from model_folders.bert_config import BertConfig
from modeling.arguments import LayerArguments


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


def all_layers(layer: keras.layers.Layer) -> list[keras.layers.Layer]:
    """Returns a layer and all layers inside it, each once.

    Uses a private method, because Keras's public list contains only the
    outermost layers of a model.
    """
    return layer._flatten_layers()
