"""Cuts long texts into overlapping windows inside a graph; see windows.py.

N = texts, P = tokens of all texts, W = windows, Q = places in all windows.
"""

from typing import NamedTuple

import tensorflow as tf

from data.text import ragged


class Windows(NamedTuple):
    """The windows of all texts, in order.

    Attributes:
        rows: int64 [W], the text that each is of.
        tokens: ragged int64 [W, None], the tokens in it, counted from the
            first text's first.
        is_max_context: ragged bool [W, None], whether no other window has
            more context around the token.
    """

    rows: tf.Tensor
    tokens: tf.RaggedTensor
    is_max_context: tf.RaggedTensor


def cut_windows(
    row_splits: tf.Tensor, max_tokens: tf.Tensor, stride: int
) -> Windows:
    """Cuts texts into windows that cover them.

    Args:
        row_splits: int64 [N + 1], where each text's tokens begin and end.
        max_tokens: int64 [N], length of a text's windows but the last.
        stride: int, tokens from the start of one to that of the next.

    Returns:
        Windows; a text without tokens has none.
    """
    num_tokens = row_splits[1:] - row_splits[:-1]
    strides = tf.minimum(max_tokens, stride)
    beyond = tf.maximum(num_tokens - max_tokens, 0)
    counts = tf.where(num_tokens > 0, 1 + (beyond + strides - 1) // strides, 0)
    numbers = tf.ragged.range(counts)
    rows = ragged.row_ids(numbers.row_splits, tf.size(numbers.flat_values))
    starts = numbers.flat_values * tf.gather(strides, rows)
    lengths = tf.minimum(
        tf.gather(num_tokens, rows) - starts, tf.gather(max_tokens, rows)
    )
    starts += tf.gather(row_splits, rows)
    tokens = tf.ragged.range(starts, starts + lengths)
    is_max_context = _find_max_context(tokens, starts, lengths, row_splits[-1])
    return Windows(rows, tokens, tokens.with_flat_values(is_max_context))


def _find_max_context(
    tokens: tf.RaggedTensor,
    starts: tf.Tensor,
    lengths: tf.Tensor,
    num_tokens: tf.Tensor,
) -> tf.Tensor:
    """Returns `Windows.is_max_context` flat, bool [Q]."""
    windows = ragged.row_ids(tokens.row_splits, tf.size(tokens.flat_values))
    tokens = tokens.flat_values
    starts, lengths = tf.gather(starts, windows), tf.gather(lengths, windows)
    context = tf.minimum(tokens - starts, starts + lengths - 1 - tokens)
    # In double precision, as ties are to come out the same.
    score = tf.cast(context, tf.float64) + 0.01 * tf.cast(lengths, tf.float64)
    best_score = tf.math.unsorted_segment_max(score, tokens, num_tokens)
    is_best = score == tf.gather(best_score, tokens)
    first = tf.math.unsorted_segment_min(
        tf.where(is_best, windows, tf.int64.max), tokens, num_tokens
    )
    return windows == tf.gather(first, tokens)
