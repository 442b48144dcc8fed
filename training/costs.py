"""Counts training's operations, and measures a device's speed and memory."""

import resource
import sys
import time

import tensorflow as tf

from modeling.config import BertConfig

# Sizes of the square matrices that are multiplied to measure the speed of an
# accelerator and of a CPU. Smaller matrices would not reach the full speed.
_PRODUCT_SIZE, _CPU_PRODUCT_SIZE = 2048, 1024


def training_flops(
    config: BertConfig, max_seq_length: int, num_predictions: int = 0
) -> int:
    """Counts the operations of all matrix products in training on one example.

    A product of [m, k] and [k, n] counts as 2 m k n operations. The backward
    pass computes two products for each product of the forward pass.
    `num_predictions` is the number of masked positions.
    """
    width, length = config.hidden_size, max_seq_length
    block = 4 * width**2 + 2 * width * config.intermediate_size
    attention = 2 * length * width
    encoder = config.num_hidden_layers * length * (block + attention)
    head = num_predictions * (width**2 + width * config.vocab_size)
    return 3 * 2 * (encoder + head + width**2)


def matmul_rate(precision: str) -> float:
    """Measures how many operations this device computes per second.

    Args:
        precision: data type of the matrices that are multiplied: "float32",
            "bfloat16" or "float16".
    """
    kinds = {device.device_type for device in tf.config.list_logical_devices()}
    size = _CPU_PRODUCT_SIZE if kinds == {"CPU"} else _PRODUCT_SIZE
    matrix = tf.random.stateless_normal([size, size], [1, 2])
    matrix = tf.cast(matrix, precision)
    product = tf.function(lambda: tf.reduce_sum(tf.matmul(matrix, matrix)))
    # The first call also traces the function, so do not measure it.
    product().numpy()
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        product().numpy()
        best = min(best, time.perf_counter() - started)
    return 2 * size**3 / best


def peak_memory() -> int:
    """Returns the peak memory of the first GPU in bytes.

    Without a GPU, returns the peak memory of this process.
    """
    if tf.config.list_physical_devices("GPU"):
        return tf.config.experimental.get_memory_info("GPU:0")["peak"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
