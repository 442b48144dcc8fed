"""int8 products by oneDNN, through TensorFlow's own operations.

oneDNN takes unsigned inputs, so they are shifted by 128; the effect on each
output depends only on the kernel and is subtracted as the product's bias. These
operations have kernels only on CPUs with oneDNN, in graphs.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

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
            multiply = tf.function(
                lambda rows: int8_matmul(rows, kernel, np.ones(2, np.float32)),
                autograph=False,
            )
            found = multiply(tf.constant(inputs))
    except tf.errors.OpError:
        return False
    return bool(np.allclose(found, inputs @ kernel, rtol=0, atol=1.0))


def int8_matmul(
    inputs: Tensor,
    kernel: Any,
    kernel_scale: Any,
    limit: float | None = None,
) -> Tensor:
    """`ops.int8_matmul`; rounds half up, not to even."""
    shape = tf.shape(inputs)
    rows = tf.reshape(tf.cast(inputs, tf.float32), (-1, kernel.shape[0]))
    if limit is None:
        largest = tf.reduce_max(tf.abs(rows), axis=-1, keepdims=True)
        largest = tf.maximum(largest, 1e-30)
        shifted = rows * (127.0 / largest) + 128.5
    else:
        largest = tf.constant(limit or 1e-30)
        shifted = tf.clip_by_value(rows * (127.0 / largest) + 128.5, 1.5, 255.5)
    kernel, moved, factors = _read(kernel, kernel_scale)
    products = tf.raw_ops.QuantizedMatMulWithBiasAndDequantize(
        # Casts truncate, which rounds because nothing is below 0.
        a=tf.bitcast(tf.cast(shifted, tf.uint8), tf.quint8),
        b=kernel,
        bias=moved,
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
    step = largest / 127.0
    if limit is None:
        outputs = products * step * factors
    else:
        # Saves a pass.
        outputs = products * (step * factors)
    outputs = tf.reshape(outputs, tf.concat([shape[:-1], factors.shape], 0))
    return tf.cast(outputs, inputs.dtype)


def _read(kernel: Any, kernel_scale: Any) -> tuple[Any, Any, Any]:
    """Returns the qint8 kernel, the shift's bias, and factors of columns."""
    values = None
    if isinstance(kernel, np.ndarray):
        values = kernel, kernel_scale
    elif _constant_weights:
        with tf.init_scope():
            values = np.asarray(kernel.value), np.asarray(kernel_scale.value)
    if values is None:
        kernel, scale = map(tf.convert_to_tensor, (kernel, kernel_scale))
        sums = tf.reduce_sum(tf.cast(kernel, tf.int32), axis=0)
        moved = -128.0 * tf.cast(sums, tf.float32)
        return (
            tf.bitcast(kernel, tf.qint8),
            moved,
            1.0 / tf.cast(scale, "float32"),
        )
    whole, scale = values
    moved = -128.0 * whole.sum(axis=0, dtype=np.int64)
    return (
        tf.constant(whole.astype(tf.qint8.as_numpy_dtype), tf.qint8),
        tf.constant(moved.astype(np.float32)),
        tf.constant((1.0 / scale).astype(np.float32)),
    )
