"""Traces one graph for layers that differ only in their weights.

Python creates the operations of a graph one by one, which takes seconds for all
blocks of an encoder and their gradients. This module traces only one block, and
calls its graph with the weights of each block. TensorFlow inlines the calls.

Use `trace_once` only in training. If an exported graph ran without inlining,
oneDNN, which assumes that weights never change, would use the weights of the
first layer for all layers.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import keras
import tensorflow as tf

from modeling.layers import all_layers
from modeling.tensors import Tensor


@contextlib.contextmanager
def replaced_values(
    pairs: Iterable[tuple[keras.Variable, Tensor]],
) -> Iterator[None]:
    """Replaces the values of some variables inside a `with` block.

    Args:
        pairs: (variable, value that layers use instead of the variable's own
            value). The value may have another dtype than the variable.
    """
    # Use `add_update`, because StatelessScope's argument `state_mapping` would
    # cast each value to the dtype of its variable.
    with keras.StatelessScope() as scope:
        for update in pairs:
            scope.add_update(update)
        yield


def trace_once(
    function: Callable[..., Tensor],
    layers: Sequence[keras.layers.Layer],
) -> Callable[..., Tensor]:
    """Wraps `function`, so that TensorFlow traces it only for the first layer.

    The other layers use the same graph, with their own weights. Outside of a
    graph, or if the layers differ in more than their weights, `trace_once`
    returns `function` unchanged. In mixed precision with
    `keras.remat`, the function is traced twice, because Keras casts weights
    only in the forward pass.
    """
    if tf.executing_eagerly() or not are_alike(layers):
        return function
    traced = layers[0]

    @tf.function(autograph=False)
    def call_with(weights: Sequence[Tensor], *tensors: Tensor) -> Tensor:
        pairs = [
            (variable, tf.cast(weight, variable.dtype))
            for variable, weight in zip(traced.variables, weights, strict=True)
        ]
        with replaced_values(pairs):
            return function(traced, *tensors)

    def call(layer: keras.layers.Layer, *tensors: Tensor) -> Tensor:
        weights = [
            tf.convert_to_tensor(variable.value) for variable in layer.variables
        ]
        return call_with(weights, *tensors)

    return call


def are_alike(layers: Sequence[keras.layers.Layer]) -> bool:
    """Returns whether layers differ only in names, weights and `trainable`.

    The same code must have created the layers. The function notices later
    changes, such as another dtype policy or LoRA of a layer inside them.
    """
    first, *others = map(_describe, layers)
    return all(description == first for description in others)


def _describe(layer: keras.layers.Layer) -> list[object]:
    policies = [
        (inner.dtype_policy.get_config(), vars(inner).get("lora_alpha"))
        for inner in all_layers(layer)
    ]
    shapes = [(variable.shape, variable.dtype) for variable in layer.variables]
    return [policies, shapes]
