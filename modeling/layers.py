"""The base of the network's layers, and their dense layer."""

import gc
from collections.abc import Callable
from typing import Any, Self

import keras

from modeling import ops
from modeling.config import BertConfig
from modeling.initializers import create_initializer
from modeling.ops import Tensor


class BertLayer(keras.layers.Layer):
    """A layer described by a configuration and an initializer.

    Args:
        config: `BertConfig`.
        initializer: initializer of the layer's kernels and tables; None = a
            truncated normal of `config.initializer_range`.
        **kwargs: as `keras.layers.Layer`.
    """

    def __init__(
        self, config: BertConfig, initializer: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.initializer = keras.initializers.get(
            initializer
        ) or create_initializer(config.initializer_range)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {
            **super().get_config(),
            "config": self.config.to_dict(),
            "initializer": keras.initializers.serialize(self.initializer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the layer that `get_config` described."""
        return super().from_config(
            {**config, "config": BertConfig.from_dict(config["config"])}
        )


@keras.saving.register_keras_serializable(package="bert")
class Dense(keras.layers.Dense):
    """A dense layer without an activation, computed by `ops.dense`.

    Call arguments:
        inputs: float [..., W].

    Attributes:
        input_limit: in int8, the largest absolute input; None = that of each
            row.
        input_recorder: called with the layer and its inputs; None = nothing.
    """

    input_limit: float | None = None
    input_recorder: Callable[[Any, Tensor], None] | None = None

    def call(self, inputs: Tensor) -> Tensor:
        """Multiplies by the kernel and adds the bias."""
        if self.input_recorder:
            self.input_recorder(self, inputs)
        return ops.dense(inputs, self.kernel, self.bias)

    def _int8_call(self, inputs: Tensor, training: Any = None) -> Tensor:
        """Does the same with `ops.int8_matmul`; Keras calls it in int8."""
        quantizer = self.inputs_quantizer
        if (
            self.lora_enabled
            or type(quantizer) is not keras.quantizers.AbsMaxQuantizer
            or tuple(quantizer.value_range) != (-127, 127)
        ):
            return super()._int8_call(inputs, training)

        @keras.ops.custom_gradient
        def multiply(
            inputs: Tensor, bias: Tensor
        ) -> tuple[Tensor, Callable[..., tuple[Tensor, Tensor]]]:
            # As in Keras: rounding has no gradient of its own.
            def gradient(
                *args: Tensor, upstream: Tensor = None
            ) -> tuple[Tensor, Tensor]:
                upstream = args[0] if upstream is None else upstream
                kernel = keras.ops.cast(self._kernel, upstream.dtype)
                scale = keras.ops.cast(self.kernel_scale, upstream.dtype)
                of_inputs = keras.ops.matmul(
                    upstream / scale, keras.ops.transpose(kernel)
                )
                rows = keras.ops.reshape(upstream, (-1, upstream.shape[-1]))
                return of_inputs, keras.ops.sum(rows, axis=0)

            outputs = ops.int8_matmul(
                inputs,
                self._kernel,
                self.kernel_scale,
                bias,
                self.input_limit,
            )
            return outputs, gradient

        bias = keras.ops.cast(self.bias, self.compute_dtype)
        return multiply(inputs, bias)

    def quantize(
        self,
        mode: str | None = None,
        type_check: bool = False,
        config: Any = None,
    ) -> None:
        """Quantizes the kernel, which Keras refuses to do in a subclass."""
        # Keras collects garbage after each layer, walking over every object of
        # the process that is not frozen.
        gc.freeze()
        try:
            super().quantize(mode, type_check=False, config=config)
        finally:
            gc.unfreeze()
