"""One graph for layers that differ only in their weights.

Python makes the operations of a graph one by one, which takes seconds for all
blocks of an encoder and their gradients. Here it makes those of one block and
calls them with the weights of each; TensorFlow inlines the calls.

For training only: if an exported graph ran without inlining and oneDNN assumed
that weights never change, it would use one layer's weights for all.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from modeling.ops import Tensor


def trace_once(
    function: Callable,
    layers: Sequence[keras.layers.Layer],
    *,
    seed: Tensor | None,
) -> Callable:
    """`ops.trace_once`: traces the function for the first layer, for all.

    Outside of graphs, and for layers that are not alike, it returns the
    function unchanged. In mixed precision `keras.remat` recomputes by a second
    trace, since Keras casts weights in the forward pass only.
    """
    if tf.executing_eagerly() or not are_alike(layers):
        return function
    traced = layers[0]

    @tf.function(autograph=False)
    def call_with(weights: list[Tensor], *tensors: Tensor) -> Any:
        mapping = list(zip(traced.variables, weights, strict=True))
        with keras.StatelessScope(mapping):
            return function(traced, *tensors)

    def call(layer: keras.layers.Layer, *tensors: Tensor) -> Any:
        weights = [tf.convert_to_tensor(v.value) for v in layer.variables]
        return call_with(weights, *tensors)

    return call


def are_alike(layers: Sequence[keras.layers.Layer]) -> bool:
    """Returns whether layers differ only in names, weights and `trainable`.

    Two layers are alike if the layers inside, in their order, have the same
    classes and the same `get_config()`, which holds dtype policies, dropout
    and LoRA's rank; and the same shapes of variables.
    """
    first, *others = map(_describe, layers)
    return all(description == first for description in others)


def _describe(layer: keras.layers.Layer) -> list[Any]:
    inner = [
        (
            type(each),
            {
                name: value
                for name, value in each.get_config().items()
                if name not in ("name", "trainable")
            },
        )
        for each in layer._flatten_layers()
    ]
    return [inner, [(v.shape, v.dtype) for v in layer.variables]]
