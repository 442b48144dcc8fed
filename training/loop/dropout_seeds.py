"""The dropout seeds of the replicas and the micro-batches of a step."""

import tensorflow as tf

from modeling.tensors import Tensor


def offset_seed(seed: Tensor, index: tf.Tensor | int) -> Tensor:
    """Returns the dropout seed of a replica or of a micro-batch.

    One seed is drawn per step. Each replica and each micro-batch adds a
    different multiple of 1,000,003 to it, and each dropout call then adds its
    own index. A model contains fewer dropout calls, so no two calls of a step
    use the same seed.

    Args:
        seed: seed of the step, or of the replica, int [2].
        index: index of the replica, or index of the micro-batch times the
            number of replicas, int [].

    Returns:
        the seed, int [2].
    """
    return seed + tf.cast(tf.stack([index * 1_000_003, 0]), seed.dtype)
