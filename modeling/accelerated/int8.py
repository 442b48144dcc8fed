"""int8 products by oneDNN, through TensorFlow's own operations.

With one range for all rows, one operation multiplies, scales and adds the
bias. With a range for each row, the scale is applied afterwards; the operation
for that takes unsigned inputs, so they are shifted by 128, and the effect on
each output, which depends only on the kernel, is subtracted as the product's
bias. These operations have kernels only on CPUs with oneDNN, in graphs.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library

from modeling.ops import Tensor

_constant_weights = False


@contextlib.contextmanager
def constant_weights() -> Iterator[None]:
    """Writes int8 kernels into the graphs traced inside, as constants.

    oneDNN reorders a constant once and a variable at each call. Only for models
    whose weights no longer change.
    """
    global _constant_weights
    before, _constant_weights = _constant_weights, True
    try:
        yield
    finally:
        _constant_weights = before


def is_usable() -> bool:
    """Returns whether the graph being traced can use `int8_matmul`."""
    return not tf.executing_eagerly() and has_kernels()


@functools.cache
def has_kernels() -> bool:
    """Returns whether TensorFlow has the kernels, by trying them."""
    if tf.config.list_logical_devices("GPU"):
        return False
    try:
        with tf.init_scope(), tf.device("CPU:0"):
            inputs = np.array([[1.0, -0.5], [0.25, 1.0]], np.float32)
            kernel = np.array([[127, 1], [-3, 50]], np.int8)
            ones = np.ones(2, np.float32)
            multiply = tf.function(
                lambda rows: (
                    int8_matmul(rows, kernel, ones, ones),
                    int8_matmul(rows, kernel, ones, ones, 1.0),
                ),
                autograph=False,
            )
            found = multiply(tf.constant(inputs))
    except (tf.errors.OpError, RuntimeError):
        # The latter where TensorFlow was built without the operation.
        return False
    return np.allclose(found, [inputs @ kernel + 1] * 2, rtol=0, atol=1.0)


def int8_matmul(
    inputs: Tensor,
    kernel: Any,
    kernel_scale: Any,
    bias: Any,
    limit: float | None = None,
) -> Tensor:
    """`ops.int8_matmul`; may round half up, not to even."""
    shape = tf.shape(inputs)
    rows = tf.reshape(tf.cast(inputs, tf.float32), (-1, kernel.shape[0]))
    whole, sums, factors = _read(kernel, kernel_scale)
    if limit is None:
        products = _by_rows(rows, whole, sums) * factors
        outputs = tf.cast(products, inputs.dtype) + tf.cast(bias, inputs.dtype)
    else:
        bias = tf.cast(bias, tf.float32)
        outputs = _by_limit(rows, whole, factors, bias, limit, inputs.dtype)
    return tf.reshape(outputs, tf.concat([shape[:-1], factors.shape], 0))


def _by_limit(
    rows: tf.Tensor,
    kernel: tf.Tensor,
    factors: tf.Tensor,
    bias: tf.Tensor,
    limit: float,
    dtype: tf.DType,
) -> tf.Tensor:
    """Returns the outputs by one operation, which tf.raw_ops does not name."""
    limit = max(limit, 1e-30)
    exact = dtype if dtype == tf.bfloat16 else tf.float32
    quantized = tf.raw_ops.QuantizeV2(
        input=rows,
        min_range=-limit,
        max_range=limit,
        T=tf.qint8,
        mode="SCALED",
        round_mode="HALF_TO_EVEN",
        narrow_range=True,
    )
    largest = 127.0 * factors
    (outputs,), _ = op_def_library.apply_op(
        "_QuantizedMatMul",
        name="int8_matmul",
        device_inputs=[quantized.output, kernel, bias],
        # The ranges of the inputs and of each column of the kernel.
        host_inputs=[
            tf.constant(-limit),
            tf.constant(limit),
            -largest,
            largest,
        ],
        Tdevice_outputs=[exact],
        Thost_outputs=[],
        T1=tf.qint8,
        T2=tf.qint8,
        Tbias=tf.float32,
        U=tf.float32,
        Tout=exact,
        transpose_a=False,
        transpose_b=False,
        is_weight_const=kernel.op.type == "Const",
        is_bias_const=False,
        fused_ops=["BiasAdd", "Dequantize"],
        input_quant_mode="SCALED",
        output_quant_mode="SCALED",
        leakyrelu_alpha=0.2,
    )
    return tf.cast(outputs, dtype)


def _by_rows(rows: tf.Tensor, kernel: tf.Tensor, sums: tf.Tensor) -> tf.Tensor:
    """Returns the products, each row in a range of its own."""
    largest = tf.reduce_max(tf.abs(rows), axis=-1, keepdims=True)
    largest = tf.maximum(largest, 1e-30)
    shifted = rows * (127.0 / largest) + 128.5
    products = tf.raw_ops.QuantizedMatMulWithBiasAndDequantize(
        # Casts truncate, which rounds because nothing is below 0.
        a=tf.bitcast(tf.cast(shifted, tf.uint8), tf.quint8),
        b=kernel,
        bias=-128.0 * sums,
        # The scale is 1: every number stands for itself.
        min_a=0.0,
        max_a=255.0,
        min_b=-127.0,
        max_b=127.0,
        min_freezed_output=0.0,
        max_freezed_output=0.0,
        Toutput=tf.float32,
        input_quant_mode="SCALED",
    )
    return products * (largest / 127.0)


def _read(
    kernel: Any, kernel_scale: Any
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the qint8 kernel, its columns' sums, and their factors."""
    values = None
    if isinstance(kernel, np.ndarray):
        values = kernel, kernel_scale
    elif _constant_weights:
        with tf.init_scope():
            values = np.asarray(kernel.value), np.asarray(kernel_scale.value)
    if values is None:
        kernel, scale = map(tf.convert_to_tensor, (kernel, kernel_scale))
        sums = tf.reduce_sum(tf.cast(kernel, tf.int32), axis=0)
        return (
            tf.bitcast(kernel, tf.qint8),
            tf.cast(sums, tf.float32),
            1.0 / tf.cast(scale, tf.float32),
        )
    whole, scale = values
    return (
        tf.constant(whole.astype(tf.qint8.as_numpy_dtype), tf.qint8),
        tf.constant(whole.sum(axis=0, dtype=np.int64).astype(np.float32)),
        tf.constant((1.0 / scale).astype(np.float32)),
    )
