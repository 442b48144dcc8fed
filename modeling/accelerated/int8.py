"""int8 products by oneDNN, through TensorFlow's own operations.

One operation multiplies rows of int8, scales each column and adds the bias.
With one range for all rows it can apply the activation too. With a range for
each row, the row's scale and the bias follow. These operations have kernels
only on CPUs with oneDNN, in graphs.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.op_def_library import apply_op

from modeling import int8 as plain
from modeling import ops
from modeling.ops import Tensor

_PRODUCT = "_QuantizedMatMul"
_FUSED = {
    "gelu": "GeluApproximate",
    "gelu_erf": "GeluExact",
    "relu": "Relu",
}

# In a block of `constant_weights`: for each kernel, by a reference to it, a
# function that returns its constants. Graphs that call it share them.
_constants: dict[Any, Callable] | None = None


@contextlib.contextmanager
def constant_weights() -> Iterator[None]:
    """Marks graphs traced inside as ones of models that only predict.

    They hold int8 kernels as constants: oneDNN reorders a constant once and a
    variable at each call. A model whose int8 weights change must be traced
    again.
    """
    global _constants
    before, _constants = _constants, {}
    try:
        yield
    finally:
        _constants = before


def is_frozen() -> bool:
    """Returns whether the graph being traced is in `constant_weights`."""
    return _constants is not None and not tf.executing_eagerly()


def is_usable() -> bool:
    """Returns whether the graph being traced can use `int8_matmul`."""
    return not tf.executing_eagerly() and has_kernels()


def has_kernels() -> bool:
    """Returns whether TensorFlow has the kernels, and no GPU to prefer."""
    return not tf.config.list_logical_devices("GPU") and are_kernels_right()


@functools.cache
def are_kernels_right() -> bool:
    """Returns whether the CPU's kernels work, by trying them.

    Without the instructions of VNNI, oneDNN adds pairs of products in 16 bits,
    and cuts off larger sums.
    """
    try:
        with tf.init_scope(), tf.device("CPU:0"):
            # The last sum is the largest one.
            inputs = np.array([[1.0, -0.5], [1.0, 1.0]], np.float32)
            kernel = np.array([[1, 127], [50, 127]], np.int8)
            ones = np.ones(2, np.float32)

            @tf.function(autograph=False)
            def multiply(rows: tf.Tensor, activate: bool) -> list[tf.Tensor]:
                limits = [1.0] * len(_FUSED) if activate else [1.0, None]
                names = [*_FUSED] if activate else [None, None]
                return [
                    int8_matmul(rows, kernel, ones, ones, limit, name)
                    for limit, name in zip(limits, names, strict=True)
                ]

            rows, expected = tf.constant(inputs), inputs @ kernel + 1
            products = multiply(rows, False)
            if not np.allclose(products, [expected] * 2, rtol=0, atol=1.0):
                return False
            # Where the products are wrong, this can end the process.
            multiply(rows, True)
    except (tf.errors.OpError, RuntimeError):
        # A RuntimeError if TensorFlow was built without the operation.
        return False
    return True


def int8_matmul(
    inputs: Tensor,
    kernel: Any,
    kernel_scale: Any,
    bias: Any,
    limit: float | None = None,
    hidden_act: str | None = None,
) -> Tensor:
    """`int8_matmul` of modeling/int8.py, and an activation with it.

    Args:
        inputs: float [..., W].
        kernel: int8 [W, V], a Keras variable or an array.
        kernel_scale: float [V], as `kernel`.
        bias: float [V].
        limit: float, or None; see modeling/int8.py.
        hidden_act: key of `_FUSED`, only with a `limit`; None = no activation.
    """
    shape = tf.shape(inputs)
    rows = tf.reshape(tf.cast(inputs, tf.float32), (-1, kernel.shape[0]))
    whole, factors = _read(kernel, kernel_scale)
    bias = tf.cast(bias, tf.float32)
    if limit is None:
        outputs = _by_rows(rows, whole, factors, bias)
    else:
        exact = tf.bfloat16 if inputs.dtype == tf.bfloat16 else tf.float32
        outputs = _by_limit(
            rows, whole, factors, bias, limit, exact, hidden_act
        )
    outputs = tf.cast(outputs, inputs.dtype)
    return tf.reshape(outputs, tf.concat([shape[:-1], factors.shape], 0))


def int8_dense(
    inputs: Tensor,
    kernel: Any,
    kernel_scale: Any,
    bias: Any,
    limit: float | None,
    hidden_act: str | None,
    *,
    training: bool,
) -> Tensor:
    """`int8_dense` in a graph of frozen weights, without a gradient."""
    operands = inputs, kernel, kernel_scale, bias, limit
    if limit is not None and hidden_act in _FUSED and is_usable():
        return int8_matmul(*operands, hidden_act)
    outputs = plain.int8_matmul(*operands)
    # Nothing is fused, so the form with the fewest passes is the fastest.
    return ops.ACTIVATIONS[hidden_act](outputs) if hidden_act else outputs


def _by_limit(
    rows: tf.Tensor,
    kernel: tf.Tensor,
    factors: tf.Tensor,
    bias: tf.Tensor,
    limit: float,
    dtype: tf.DType,
    hidden_act: str | None,
) -> tf.Tensor:
    """Returns the outputs, all rows in one range."""
    limit = max(limit, 1e-30)
    quantized = tf.raw_ops.QuantizeV2(
        input=rows,
        min_range=-limit,
        max_range=limit,
        T=tf.qint8,
        mode="SCALED",
        round_mode="HALF_TO_EVEN",
        narrow_range=True,
    )
    ranges = _ranges(limit, factors)
    return _multiply(quantized.output, kernel, bias, ranges, dtype, hidden_act)


def _by_rows(
    rows: tf.Tensor, kernel: tf.Tensor, factors: tf.Tensor, bias: tf.Tensor
) -> tf.Tensor:
    """Returns the outputs, each row in a range of its own."""
    # Two reductions cost less than the absolute values of all elements.
    largest = tf.maximum(
        tf.reduce_max(rows, axis=-1, keepdims=True),
        -tf.reduce_min(rows, axis=-1, keepdims=True),
    )
    largest = tf.maximum(largest, 1e-30)
    quantized = tf.cast(tf.round(rows * (127.0 / largest)), tf.int8)
    products = _multiply(
        tf.bitcast(quantized, tf.qint8),
        kernel,
        tf.zeros_like(bias),
        _ranges(127.0, factors),
        tf.float32,
    )
    return products * (largest / 127.0) + bias


def _ranges(limit: float, factors: tf.Tensor) -> list[tf.Tensor]:
    """Returns the ranges of the inputs and of each column of the kernel."""
    largest = 127.0 * factors
    return [tf.constant(-limit), tf.constant(limit), -largest, largest]


def _multiply(
    quantized: tf.Tensor,
    kernel: tf.Tensor,
    bias: tf.Tensor,
    ranges: list[tf.Tensor],
    dtype: tf.DType,
    hidden_act: str | None = None,
) -> tf.Tensor:
    """Returns the product by one operation, which tf.raw_ops does not name."""
    activations = [_FUSED[hidden_act]] if hidden_act else []
    (outputs,), _ = apply_op(
        _PRODUCT,
        name="int8_matmul",
        device_inputs=[quantized, kernel, bias],
        host_inputs=ranges,
        Tdevice_outputs=[dtype],
        Thost_outputs=[],
        T1=tf.qint8,
        T2=tf.qint8,
        Tbias=tf.float32,
        U=tf.float32,
        Tout=dtype,
        transpose_a=False,
        transpose_b=False,
        is_weight_const=kernel.op.type in ("Const", "PartitionedCall"),
        is_bias_const=False,
        fused_ops=["BiasAdd", *activations, "Dequantize"],
        input_quant_mode="SCALED",
        output_quant_mode="SCALED",
        leakyrelu_alpha=0.2,
    )
    return outputs


def _read(kernel: Any, kernel_scale: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the qint8 kernel, and the factors of its columns."""
    if isinstance(kernel, np.ndarray):
        return _to_constants(kernel, kernel_scale)
    constants = _constants
    if constants is None:
        kernel, scale = map(tf.convert_to_tensor, (kernel, kernel_scale))
        return (
            tf.bitcast(kernel, tf.qint8),
            1.0 / tf.cast(scale, tf.float32),
        )
    reference = kernel.value.ref()
    if reference not in constants:
        with tf.init_scope():
            values = np.asarray(kernel.value), np.asarray(kernel_scale.value)
        constants[reference] = tf.function(
            lambda: _to_constants(*values), autograph=False
        )
    return constants[reference]()


def _to_constants(
    kernel: np.ndarray, scale: np.ndarray
) -> tuple[tf.Tensor, tf.Tensor]:
    return (
        tf.constant(kernel.astype(tf.qint8.as_numpy_dtype), tf.qint8),
        tf.constant((1.0 / scale).astype(np.float32)),
    )
