"""Cuts long texts into overlapping windows inside a graph, as windows.py does.

N = texts, P = tokens of all texts, W = windows.
"""

from typing import NamedTuple

import tensorflow as tf

from data.text import ragged
from data.text.packing_layer import pad
from data.text.tokenizer_layer import TokenizerLayer


class Windows(NamedTuple):
    """The windows of all texts, in order.

    Attributes:
        rows: int64 [W], index of each window's text.
        starts: int64 [W], each window's first token, in [0, P).
        lengths: int64 [W], each window's number of tokens.
    """

    rows: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor

    def slice(self, begin: tf.Tensor, end: tf.Tensor) -> "Windows":
        """Returns the windows with the indices `begin` to `end` - 1."""
        return Windows(*(values[begin:end] for values in self))

    def tokens(self) -> tf.RaggedTensor:
        """Returns the tokens of each window, ragged int64 [W, None]."""
        return tf.ragged.range(self.starts, self.starts + self.lengths)

    def pack(
        self,
        tokenizer: TokenizerLayer,
        tokens: tf.RaggedTensor,
        max_seq_length: int,
        query: tf.RaggedTensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """Packs windows as inputs, `[CLS] query [SEP] window [SEP]`.

        Args:
            tokenizer: TokenizerLayer.
            tokens: ragged int32 [N, None], the ids of the texts.
            max_seq_length: F, length of an input.
            query: ragged int32 [N, None], in segment 0. Without it, inputs are
                `[CLS] window [SEP]`.
        """
        cls, sep = (
            tf.fill([tf.size(self.rows), 1], tokenizer.id_of(name))
            for name in ("[CLS]", "[SEP]")
        )
        parts = self.tokens()
        parts = parts.with_flat_values(
            tf.gather(tokens.flat_values, parts.flat_values)
        )
        if query is None:
            ids = tf.concat([cls, parts, sep], 1)
            return pad(ids, ids.row_lengths(), max_seq_length)
        query = tf.gather(query, self.rows)
        ids = tf.concat([cls, query, sep, parts, sep], 1)
        return pad(ids, query.row_lengths() + 2, max_seq_length)

    def most_context(self, tokens: tf.Tensor) -> tf.Tensor:
        """Returns the window with the most context around each token.

        Args:
            tokens: int64 [...], in [0, P).

        Returns:
            index of the window, int64 of the same shape.
            `windows.check_is_max_context` defines the context.
        """
        ends = self.starts + self.lengths

        def score(window: tf.Tensor) -> tf.Tensor:
            left = tokens - tf.gather(self.starts, window)
            right = tf.gather(ends, window) - 1 - tokens
            length = tf.gather(self.lengths, window)
            # Use float64, so that equal scores stay equal.
            return tf.cast(tf.minimum(left, right), tf.float64) + (
                0.01 * tf.cast(length, tf.float64)
            )

        def holds(window: tf.Tensor) -> tf.Tensor:
            before = tf.gather(ends, tf.maximum(window, 0)) <= tokens
            return (window >= 0) & ~before

        def compare(
            window: tf.Tensor, best: tf.Tensor, best_score: tf.Tensor
        ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            # The first window wins a tie.
            is_better = holds(window) & (
                score(tf.maximum(window, 0)) >= best_score
            )
            best = tf.where(is_better, window, best)
            return window - 1, best, score(best)

        last = tf.searchsorted(
            self.starts, tf.reshape(tokens, [-1]), "right", tf.int64
        )
        last = tf.reshape(last, tf.shape(tokens)) - 1
        _, best, _ = tf.while_loop(
            lambda window, *_: tf.reduce_any(holds(window)),
            compare,
            (last - 1, last, score(last)),
        )
        return best


def cut_windows(
    row_splits: tf.Tensor,
    max_tokens: tf.Tensor,
    stride: int,
    fewest: int = 0,
) -> Windows:
    """Cuts texts into windows that cover them.

    Args:
        row_splits: int64 [N + 1], index of each text's first token, and P.
        max_tokens: int64 [N], length of a text's windows except the last.
        stride: int, tokens between the starts of successive windows.
        fewest: int, number of windows for a text without tokens, 0 or 1.
    """
    num_tokens = row_splits[1:] - row_splits[:-1]
    strides = tf.minimum(max_tokens, stride)
    beyond = tf.maximum(num_tokens - max_tokens, 0)
    counts = 1 + (beyond + strides - 1) // strides
    counts = tf.where(num_tokens > 0, counts, fewest)
    numbers = tf.ragged.range(counts)
    rows = ragged.row_ids(numbers.row_splits, tf.size(numbers.flat_values))
    starts = numbers.flat_values * tf.gather(strides, rows)
    lengths = tf.minimum(
        tf.gather(num_tokens, rows) - starts, tf.gather(max_tokens, rows)
    )
    return Windows(rows, starts + tf.gather(row_splits, rows), lengths)
