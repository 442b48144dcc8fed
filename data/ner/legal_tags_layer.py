"""Finds the most probable legal sequence of tags inside a graph.

The sequences are the same as in legal_tags.py. N = texts, M = words of the
longest text, L = tags.
"""

from collections.abc import Sequence

import tensorflow as tf

from data.ner import legal_tags


def decode(probabilities: tf.RaggedTensor, labels: Sequence[str]) -> tf.Tensor:
    """Returns the index of the tag of each word of all texts, int64 [words].

    Args:
        probabilities: probabilities of each word's tags, ragged float32
            [N, None, L].
        labels: the tags in order.
    """
    start, between, end = legal_tags.find_penalties(tuple(labels))
    lengths = probabilities.row_lengths()
    # The scores are [M + 2, N, L]. Two padding words ensure that no loop is
    # empty.
    scores = tf.math.log(tf.maximum(probabilities.to_tensor(), 1e-37))
    scores = tf.pad(tf.transpose(scores, [1, 0, 2]), [[0, 2], [0, 0], [0, 0]])
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
    # Repeat the tag of a text's last word after the end of the text.
    ids = tf.transpose(tf.concat([before, last[None]], 0))
    return tf.RaggedTensor.from_tensor(ids, lengths).flat_values
