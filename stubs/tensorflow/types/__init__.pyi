"""Types of `tf.types`."""

from tensorflow.types import experimental as experimental
