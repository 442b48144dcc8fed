"""What the exports of all tasks share.

N = texts, B = batch, F = length of an input, W = windows.
"""

from pathlib import Path

import tensorflow as tf

from training import export


def text_signature(*names):
    """Returns the specs of inputs that are texts, string [N] each."""
    return [tf.TensorSpec([None], tf.string, name=name) for name in names]


def serve_ids(function, num_dimensions=2):
    """Returns the endpoint over the original's inputs.

    Args:
        function: (dict of int32 [B, F]: input_ids, input_mask, segment_ids)
            -> dict of outputs.
        num_dimensions: 2, or 3 for inputs int32 [B, C, F], C the choices.
    """

    def serve(input_ids, input_mask, segment_ids):
        return function(
            {
                "input_ids": input_ids,
                "input_mask": input_mask,
                "segment_ids": segment_ids,
            }
        )

    shape = [None] * num_dimensions
    return serve, [
        tf.TensorSpec(shape, tf.int32, name=name) for name in export.INPUT_NAMES
    ]


def bert_files(model, vocab_file=None, label_list=None):
    """Returns what stands beside a model, for `export_saved_model`.

    Args:
        model: a task's model.
        vocab_file: path of its vocabulary, or None.
        label_list: list of str, its labels in order, or None.
    """
    files = {"bert_config.json": model.config.to_json_string()}
    if vocab_file:
        files["vocab.txt"] = Path(vocab_file)
    if label_list:
        files["labels.txt"] = "".join(f"{label}\n" for label in label_list)
    return files


def trim(features):
    """Cuts inputs to the longest, which changes nothing but rounding.

    Args:
        features: dict of int32 [B, F], `input_mask` among them.
    """
    is_used = tf.reduce_any(features["input_mask"] > 0, 0)
    length = tf.maximum(tf.math.count_nonzero(is_used, dtype=tf.int32), 1)
    return {name: value[:, :length] for name, value in features.items()}


def call_in_batches(function, features, batch_size, shape):
    """Calls a function on a few windows at a time, to bound its memory.

    Args:
        function: (dict of int32 [B, F]) -> float [B, ...].
        features: dict of int32 [W, F].
        batch_size: B, at most.
        shape: list of int or None, of what it gives for each window.

    Returns:
        what the function gives, strung together, float32 [W, *shape].
    """
    num_windows = tf.shape(features["input_ids"])[0]
    # One at least, so that the shape of nothing is right too.
    num_batches = tf.maximum(-(-num_windows // batch_size), 1)

    def call(index, outputs):
        begin = index * batch_size
        batch = {
            name: value[begin : begin + batch_size]
            for name, value in features.items()
        }
        output = tf.cast(function(batch), tf.float32)
        return index + 1, outputs.write(index, output)

    _, outputs = tf.while_loop(
        lambda index, _: index < num_batches,
        call,
        (
            0,
            tf.TensorArray(
                tf.float32,
                num_batches,
                infer_shape=False,
                element_shape=[None, *shape],
            ),
        ),
        parallel_iterations=1,
    )
    return outputs.concat()
