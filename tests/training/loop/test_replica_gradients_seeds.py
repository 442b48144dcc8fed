"""Each replica and each micro-batch of a step has a dropout seed of its own."""

import itertools

import numpy as np
import tensorflow as tf

from training.loop.replica_gradients import offset_seed

SEED = tf.constant([7, 9])


def test_replicas_and_micro_batches_have_seeds_of_their_own():
    num_replicas, num_micro_batches = 4, 3
    seeds = {
        tuple(
            offset_seed(
                offset_seed(SEED, tf.constant(replica)),
                tf.constant(index * num_replicas),
            ).numpy()
        )
        for replica, index in itertools.product(
            range(num_replicas), range(num_micro_batches)
        )
    }
    assert len(seeds) == num_replicas * num_micro_batches
    firsts = np.sort([first for first, _ in seeds])
    assert np.diff(firsts).min() == 1_000_003
