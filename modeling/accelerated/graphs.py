"""Runs layers in graphs with other values than those of their variables.

`trace_once` is for training. Python creates the operations of a graph one by
one, which takes seconds for all blocks of an encoder and their gradients. So
the function traces only one block, and calls its graph with the weights of each
block. TensorFlow inlines the calls. Use it only in training. If an exported
graph ran without inlining, oneDNN, which assumes that weights never change,
would use the weights of the first layer for all layers.

`GraphPredictor` is for prediction. It passes kernels that were cast once.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import keras
import tensorflow as tf

from modeling.layers import all_layers
from modeling.tensors import Features, Outputs, Tensor


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


class GraphPredictor:
    """Calls a model for evaluation and prediction, inside a graph.

    If the CPU is the only device, the graph is pinned to the CPU, so that the
    model uses the functions in fusions.py. In mixed precision, `cast_kernels`
    casts the layers' weight matrices (`kernel`) once, so that calls need not
    cast them for every batch.

    Args:
        model: model that reads a dict of features.
        jit_compile: whether XLA compiles the graph. If True, the graph is not
            pinned, because XLA fuses operations itself.
    """

    def __init__(
        self, model: keras.Model, *, jit_compile: bool = False
    ) -> None:
        self.model = model
        devices = tf.config.list_logical_devices()
        device_types = {device.device_type for device in devices}
        is_pinned = device_types == {"CPU"} and not jit_compile
        self.device = "CPU:0" if is_pinned else None

    def __call__(
        self, features: Features, kernels: Sequence[tf.Tensor] = ()
    ) -> Outputs:
        """Returns the model's outputs.

        Args:
            features: dict of tensors.
            kernels: result of `cast_kernels`. If it is empty, the model uses
                its own kernels.
        """
        variables: list[keras.Variable] = []
        if kernels:
            variables = [kernel for kernel, _ in kernels_to_cast(self.model)]
        with (
            tf.device(self.device),
            replaced_values(zip(variables, kernels, strict=True)),
        ):
            outputs: Outputs = self.model(features, training=False)
        return outputs

    def cast_kernels(self) -> list[tf.Tensor]:
        """Returns copies of the model's kernels [in, out] in the compute dtype.

        The list is empty if the kernels already have this dtype, or if the
        graph is not pinned to the CPU.
        """
        if self.device is None:
            return []
        return [
            tf.cast(kernel.value, dtype)
            for kernel, dtype in kernels_to_cast(self.model)
        ]


def kernels_to_cast(model: keras.Model) -> list[tuple[keras.Variable, str]]:
    """Returns (kernel, compute dtype) of each kernel with another dtype.

    Layers would cast these kernels at each call. Embeddings and biases are
    small, and keep their dtype.
    """
    return [
        (weight, layer.compute_dtype)
        for layer in all_layers(model)
        # Skip layers that contain other layers, because their weights include
        # the weights of their inner layers.
        if len(all_layers(layer)) == 1
        for weight in layer.weights
        if weight.path.endswith("/kernel")
        and weight.dtype not in ("int8", layer.compute_dtype)
    ]
