"""int8 products in plain `keras.ops`, which may have faster forms too.

W = width of the inputs, V = width of the outputs.
"""

from collections.abc import Callable

import keras

from modeling import ops
from modeling.ops import Tensor


@ops.Overridable
def int8_matmul(
    inputs: Tensor,
    kernel: Tensor,
    kernel_scale: Tensor,
    bias: Tensor,
    limit: float | None = None,
) -> Tensor:
    """Returns `inputs`, rounded to int8, times an int8 kernel, plus a bias.

    Each row r of the inputs becomes round(127 r / max |r|), from -127 to 127.

    Args:
        inputs: float [..., W].
        kernel: int8 [W, V].
        kernel_scale: float [V]; a column stands for `kernel / kernel_scale`.
        bias: float [V].
        limit: replaces max |r| in all rows; values beyond it are clipped.

    Returns:
        float [..., V] of the inputs' dtype.
    """
    exact = ops.at_least_float32(inputs)
    if limit is None:
        # `initial` allows zero rows.
        limit = keras.ops.max(
            keras.ops.abs(exact), axis=-1, keepdims=True, initial=1e-30
        )
    limit = keras.ops.maximum(limit, 1e-30)
    rows = keras.ops.clip(keras.ops.round(exact * (127.0 / limit)), -127, 127)
    # Sums of integers are exact in float32, up to 2 ** 24.
    products = keras.ops.matmul(rows, keras.ops.cast(kernel, rows.dtype))
    scale = keras.ops.cast(kernel_scale, rows.dtype)
    outputs = keras.ops.cast(products * (limit / 127.0) / scale, inputs.dtype)
    return outputs + keras.ops.cast(bias, inputs.dtype)


@ops.Overridable
def int8_dense(
    inputs: Tensor,
    kernel: Tensor,
    kernel_scale: Tensor,
    bias: Tensor,
    limit: float | None,
    hidden_act: str | None,
    *,
    training: bool,
) -> Tensor:
    """Returns `int8_matmul` and an activation, as `Dense` in int8 computes it.

    The gradient ignores the rounding, as Keras's does.

    Args:
        inputs: float [..., W].
        kernel: as `int8_matmul`.
        kernel_scale: as `int8_matmul`.
        bias: as `int8_matmul`.
        limit: as `int8_matmul`.
        hidden_act: key of `ops.ACTIVATIONS`; None = no activation.
        training: whether the call is part of a training step.
    """

    @keras.ops.custom_gradient
    def multiply(
        inputs: Tensor, bias: Tensor
    ) -> tuple[Tensor, Callable[..., tuple[Tensor, Tensor]]]:
        def gradient(
            *args: Tensor, upstream: Tensor = None
        ) -> tuple[Tensor, Tensor]:
            upstream = args[0] if upstream is None else upstream
            scale = keras.ops.cast(kernel_scale, upstream.dtype)
            input_gradient = keras.ops.matmul(
                upstream / scale,
                keras.ops.transpose(keras.ops.cast(kernel, upstream.dtype)),
            )
            rows = keras.ops.reshape(upstream, (-1, upstream.shape[-1]))
            return input_gradient, keras.ops.sum(rows, axis=0)

        return int8_matmul(inputs, kernel, kernel_scale, bias, limit), gradient

    outputs = multiply(inputs, bias)
    if hidden_act is None:
        return outputs
    return ops.activation(outputs, hidden_act, training=training)
