"""Finds the most probable legal sequence of tags, as operations of a graph.

A sequence is legal if each tag may follow the preceding one. The graph chooses
the same tags as legal_tags.py. N = texts, M = words of the longest text, L =
tags.
"""

from collections.abc import Sequence

import tensorflow as tf

from data.ner import legal_tags


def decode(probabilities: tf.RaggedTensor, labels: Sequence[str]) -> tf.Tensor:
    """Chooses the most probable legal sequence of tags of each text.

    Args:
        probabilities: probabilities of the L tags of each word of each text,
            ragged float32 [N, None, L].
        labels: names of the L tags, in the order of the probabilities.

    Returns:
        index of the chosen tag of each word, for the words of all texts one
        after another, int64 [words].
    """
    start, between, end = legal_tags.find_penalties(tuple(labels))
    lengths = probabilities.row_lengths()
    # Compute scores [M + 2, N, L]. Append two words of padding, so that neither
    # call of tf.scan below gets an empty tensor.
    scores = tf.math.log(tf.maximum(probabilities.to_tensor(), 1e-37))
    scores = tf.pad(tf.transpose(scores, [1, 0, 2]), [[0, 2], [0, 0], [0, 0]])
    # In the search, each tag of a padding word follows the same tag, so that
    # padding does not change the tags of real words.
    unchanged = tf.range(len(labels), dtype=tf.int64)

    def forward(
        state: tuple[tf.Tensor, tf.Tensor], word: tuple[tf.Tensor, tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        total, row = state[0], word[0]
        paths = total[:, :, None] + between
        best = tf.reduce_max(paths, [1, 2])[:, None]
        is_real = (word[1] < lengths)[:, None]
        return (
            tf.where(is_real, tf.reduce_max(paths, 1) - best + row, total),
            tf.where(is_real, tf.argmax(paths, 1), unchanged),
        )

    places = tf.range(1, tf.shape(scores, tf.int64)[0])
    first = scores[0] + start
    totals, steps = tf.scan(
        forward,
        (scores[1:], places),
        (first, tf.zeros_like(first, tf.int64)),
    )
    last = tf.argmax(totals[-1] + end, -1)
    before = tf.scan(
        lambda tag, step: tf.gather(step, tag, batch_dims=1),
        steps,
        last,
        reverse=True,
    )
    # Join the tags of all words, including padding, [N, M + 2]. The return
    # statement then drops the padding.
    ids = tf.transpose(tf.concat([before, last[None]], 0))
    return tf.RaggedTensor.from_tensor(ids, lengths).flat_values
