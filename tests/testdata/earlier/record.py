"""Arithmetic of the machine that recorded the files beside it."""

import hashlib

import numpy as np
import tensorflow as tf


def probe() -> str:
    """Returns a checksum of products and functions of fixed numbers.

    Two machines on which it differs round differently, so that runs of the
    same code differ in the last bits, too.
    """

    def numbers(*shape):
        count = np.arange(np.prod(shape), dtype=np.int64)
        return tf.constant(
            (count * 7919 % 1009 / 1009 - 0.5).reshape(shape), tf.float32
        )

    @tf.function(autograph=False)
    def results():
        found = [
            tf.matmul(numbers(rows, inner), numbers(inner, columns))
            for rows, inner, columns in ((96, 8, 8), (192, 16, 8), (8, 192, 76))
        ]
        x = 4 * numbers(64, 76)
        found += [tf.nn.softmax(x), tf.tanh(x), tf.math.erf(x), tf.exp(x)]
        found += [tf.nn.gelu(x), tf.reduce_sum(x, -1), tf.reduce_mean(x, 0)]
        found += [tf.math.rsqrt(tf.abs(x) + 1), tf.norm(x)]
        return found

    checksum = hashlib.sha256()
    for result in results():
        checksum.update(result.numpy().tobytes())
    return checksum.hexdigest()
