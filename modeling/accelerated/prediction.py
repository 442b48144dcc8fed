"""Calls a trained model for prediction, with kernels that were cast once."""

from collections.abc import Sequence
from typing import NamedTuple

import keras
import tensorflow as tf

from modeling.accelerated.graphs import replaced_values
from modeling.layers import all_layers
from modeling.tensors import Features, Outputs


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
            variables = [
                to_cast.kernel for to_cast in kernels_to_cast(self.model)
            ]
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


class KernelToCast(NamedTuple):
    """A kernel whose dtype is not the one in which its layer computes.

    Attributes:
        kernel: the kernel.
        compute_dtype: dtype in which the layer computes.
    """

    kernel: keras.Variable
    compute_dtype: str


def kernels_to_cast(model: keras.Model) -> list[KernelToCast]:
    """Returns the kernels that layers would cast at each call.

    Embeddings and biases are small, and keep their dtype.
    """
    return [
        KernelToCast(weight, layer.compute_dtype)
        for layer in all_layers(model)
        # Skip layers that contain other layers, because their weights include
        # the weights of their inner layers.
        if len(all_layers(layer)) == 1
        for weight in layer.weights
        if weight.path.endswith("/kernel")
        and weight.dtype not in ("int8", layer.compute_dtype)
    ]
