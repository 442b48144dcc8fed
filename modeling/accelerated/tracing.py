"""One graph for layers that differ only in their weights.

Python makes the operations of a graph one by one, which takes seconds for all
blocks of an encoder and their gradients. Here it makes those of one block and
calls them with the weights of each; TensorFlow inlines the calls.

For training only: if an exported graph ran without inlining and oneDNN assumed
that weights never change, it would use one layer's weights for all.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from modeling.layers import all_layers
from modeling.ops import Tensor


@contextlib.contextmanager
def replaced_values(
    pairs: Iterable[tuple[keras.Variable, Any]],
) -> Iterator[None]:
    """Lets layers compute with other values of some variables in the block.

    Args:
        pairs: (variable, its value there), which may have another dtype.
    """
    # As updates, because a scope's mapping casts values to the variable's type.
    with keras.StatelessScope() as scope:
        for update in pairs:
            scope.add_update(update)
        yield


def trace_once(
    function: Callable,
    layers: Sequence[keras.layers.Layer],
    *,
    training: bool,
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
        pairs = [
            (variable, tf.cast(weight, variable.dtype))
            for variable, weight in zip(traced.variables, weights, strict=True)
        ]
        with replaced_values(pairs):
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
        for each in all_layers(layer)
    ]
    return [inner, [(v.shape, v.dtype) for v in layer.variables]]
