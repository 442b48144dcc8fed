"""Reads the files that a run wrote for TensorBoard."""

import tensorflow as tf


def scalars(folder):
    """Returns {tag: {step: value}} of what TensorBoard would show."""
    found = {}
    for path in folder.glob("events.out.tfevents.*"):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                tensor = tf.make_ndarray(value.tensor)
                found.setdefault(value.tag, {})[event.step] = float(tensor)
    return found
