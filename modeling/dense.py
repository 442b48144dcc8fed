"""The dense layer of the network, with its activation."""

from typing import Unpack

import keras

from modeling import ops
from modeling.arguments import LayerArguments
from modeling.tensors import Tensor


class _DenseArguments(LayerArguments, total=False):
    """Arguments of `keras.layers.Dense` that our `Dense` accepts."""

    kernel_initializer: keras.initializers.Initializer


class Dense(keras.layers.Dense):
    """A dense layer and its activation, computed by modeling/ops.py.

    Args:
        units: width of the outputs.
        hidden_act: key of `plain_ops.ACTIVATIONS`. If None, the layer applies
            no activation.
        **arguments: those of `keras.layers.Dense`.

    Call arguments:
        inputs: float [..., W].
        training: whether the call is part of a training step.
    """

    def __init__(
        self,
        units: int,
        hidden_act: str | None = None,
        **arguments: Unpack[_DenseArguments],
    ) -> None:
        super().__init__(units, **arguments)
        self.hidden_act = hidden_act

    def __call__(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Computes the dense layer and its activation, float [..., units]."""
        outputs = super().__call__(inputs, training=training)
        # Apply the activation outside the layer's name scope. TensorFlow's
        # graph optimizer sorts the terms of sums by name, so other names would
        # change the last bits of the trained weights.
        if self.hidden_act is None:
            return outputs
        return ops.activation(outputs, self.hidden_act, training=training)

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        """Computes the layer without its activation, float [..., units]."""
        return ops.dense(inputs, self.kernel, self.bias)

    def quantize(
        self, mode: str, type_check: bool = True, config: object = None
    ) -> None:
        """Quantizes the kernel as Keras does, which skips subclasses."""
        super().quantize(mode, type_check=False, config=config)
