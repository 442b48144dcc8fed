"""Reads checkpoints, to compare what runs have made."""

import numpy as np
import tensorflow as tf


def values(path, step=None):
    """Returns {name: array} of a checkpoint, of a folder's step or newest."""
    if step is not None:
        path = f"{path}/model.ckpt-{step}"
    reader = tf.train.load_checkpoint(str(path))
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
    }


def assert_same_bits(found, expected):
    """Compares the values of two checkpoints."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, name)
