"""Trims batches of inputs to their longest input."""

import tensorflow as tf


def trim_batch(
    features: dict[str, tf.Tensor], multiple: int = 16
) -> dict[str, tf.Tensor]:
    """Removes the positions at the end that are padding in all sequences.

    The model ignores padding, so its outputs stay the same up to rounding.

    Args:
        features: dict of tensors with `input_mask`, int [B, T] or [B, C, T],
            and other sequences of the same shape (B = examples, C = inputs of
            an example, T = length of an input). If the dict contains
            `label_weights`, there is a label for each position, and the
            function also cuts `label_ids` and `label_weights`.
        multiple: the new length is a multiple of this number. This limits the
            number of different shapes for which XLA compiles the model.

    Returns:
        the dict, with all sequences cut to the length of the longest sequence,
        rounded up to a multiple of `multiple`.
    """
    mask = features["input_mask"]
    axes = tf.range(tf.rank(mask) - 1)
    used = tf.reduce_max(mask, axis=axes) * tf.range(1, tf.shape(mask)[-1] + 1)
    length = -(-tf.reduce_max(used) // multiple) * multiple
    length = tf.maximum(length, 1)
    names = ["input_ids", "input_mask", "segment_ids"]
    if "label_weights" in features:
        names += ["label_ids", "label_weights"]
    return features | {name: features[name][..., :length] for name in names}
