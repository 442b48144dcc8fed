"""Types of `tf.tpu.experimental`."""

from tensorflow.distribute.cluster_resolver import TPUClusterResolver

def initialize_tpu_system(
    cluster_resolver: TPUClusterResolver | None = None,
) -> object: ...
