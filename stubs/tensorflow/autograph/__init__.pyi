"""Types of `tf.autograph`."""

from tensorflow.autograph import experimental as experimental
