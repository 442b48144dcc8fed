"""Cuts long texts into overlapping windows inside a TensorFlow graph.

windows.py defines the windows. N = number of texts, P = number of tokens of all
texts, W = number of windows of all texts.
"""

from typing import NamedTuple

import tensorflow as tf

from data.text import ragged
from data.text.packing_layer import pad
from data.text.tokenizer_layer import TokenizerLayer


class Windows(NamedTuple):
    """The windows of all texts, in the order of the texts.

    Attributes:
        rows: int64 [W], index of the text that contains the window.
        starts: int64 [W], index of the window's first token among the P tokens
            of all texts.
        lengths: int64 [W], number of tokens of the window.
    """

    rows: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor

    def slice(self, begin: tf.Tensor, end: tf.Tensor) -> "Windows":
        """Returns the windows with the indices `begin` to `end` - 1."""
        return Windows(*(values[begin:end] for values in self))

    def tokens(self) -> tf.RaggedTensor:
        """Returns the indexes of each window's tokens, ragged int64 [W, None].

        An index counts the tokens of all texts, from 0 to P - 1.
        """
        return tf.ragged.range(self.starts, self.starts + self.lengths)

    def pack(
        self,
        tokenizer: TokenizerLayer,
        tokens: tf.RaggedTensor,
        max_seq_length: int,
        query: tf.RaggedTensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """Packs windows as model inputs, `[CLS] query [SEP] window [SEP]`.

        Args:
            tokenizer: TokenizerLayer with the vocabulary of the ids.
            tokens: ragged int32 [N, None], the WordPiece ids of the texts.
            max_seq_length: length of an input in WordPieces.
            query: ragged int32 [N, None], WordPiece ids that become segment 0
                of each window of a text, such as a question. If it is None, an
                input is `[CLS] window [SEP]`.
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
        """Finds the window that contains the most context around each token.

        `windows.check_is_max_context` defines the context.

        Args:
            tokens: int64 of any shape, indexes of tokens, from 0 to P - 1.

        Returns:
            indexes of the windows, int64 of the same shape.
        """
        ends = self.starts + self.lengths

        def score(window: tf.Tensor) -> tf.Tensor:
            left = tokens - tf.gather(self.starts, window)
            right = tf.gather(ends, window) - 1 - tokens
            length = tf.gather(self.lengths, window)
            # Use float64, because rounding to float32 could change the order of
            # scores.
            return tf.cast(tf.minimum(left, right), tf.float64) + (
                0.01 * tf.cast(length, tf.float64)
            )

        def holds(window: tf.Tensor) -> tf.Tensor:
            before = tf.gather(ends, tf.maximum(window, 0)) <= tokens
            return (window >= 0) & ~before

        def compare(
            window: tf.Tensor, best: tf.Tensor, best_score: tf.Tensor
        ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            # The loop visits earlier windows last. If scores are equal, the
            # earlier window is the best.
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
    """Cuts texts into overlapping windows that cover them.

    Args:
        row_splits: int64 [N + 1], index of each text's first token, and P at
            the end.
        max_tokens: int64 [N], number of tokens of each window of a text. Only
            the last window may be shorter.
        stride: number of tokens from the start of a window to the start of the
            next window.
        fewest: number of windows for a text without tokens, 0 or 1.
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
