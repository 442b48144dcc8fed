"""Types of `tf.tpu`."""

from tensorflow.tpu import experimental as experimental
