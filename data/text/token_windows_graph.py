"""Cuts long texts into windows inside a graph, and packs them as model inputs.

The module repeats token_windows.py, to which tests/data/text/ compares it:
`cut_windows` equals `cut_spans`, and `Windows.find_max_context_windows` the
function of the same name.

N = number of texts, P = number of tokens of all texts, W = number of windows of
all texts.
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.text.packing_graph import cut_ranges, join_parts, pad_ids
from data.text.ragged import row_ids
from data.text.tokenizer_layer import TokenizerLayer


class Windows(NamedTuple):
    """The windows of all texts, in the order of the texts.

    Attributes:
        text_indices: int64 [W], index of the text that contains the window.
        starts: int64 [W], index of the window's first token among the P tokens
            of all texts.
        lengths: int64 [W], number of tokens of the window.
        tokens: ragged int32 [N, None], WordPiece ids of the texts.
        query: ragged int32 [N, None], WordPiece ids that become segment 0 of
            each window of a text, such as a question. None = an input contains
            only [CLS], the window and [SEP].
    """

    text_indices: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor
    tokens: tf.RaggedTensor
    query: tf.RaggedTensor | None = None

    @property
    def first_positions(self) -> tf.Tensor:
        """Position at which the window begins in each input, int64 [W]."""
        if self.query is None:
            return tf.ones_like(self.text_indices)
        return tf.gather(self.query.row_lengths(), self.text_indices) + 2

    def slice(self, start: tf.Tensor, end: tf.Tensor) -> "Windows":
        """Returns the windows with the indices `start` to `end` - 1."""
        return self._replace(
            text_indices=self.text_indices[start:end],
            starts=self.starts[start:end],
            lengths=self.lengths[start:end],
        )

    def pack(
        self, tokenizer: TokenizerLayer, max_seq_length: int
    ) -> dict[str, tf.Tensor]:
        """Packs windows as model inputs, `[CLS] query [SEP] window [SEP]`.

        `tokenizer` contains the ids of [CLS] and [SEP]. `max_seq_length` is the
        length of an input in WordPieces.
        """
        window = cut_ranges(self.tokens, self.starts, self.lengths)
        if self.query is None:
            ids = join_parts(tokenizer, [window])
            return pad_ids(ids, ids.row_lengths(), max_seq_length)
        query = tf.gather(self.query, self.text_indices)
        ids = join_parts(tokenizer, [query, window])
        return pad_ids(ids, self.first_positions, max_seq_length)

    def find_max_context_windows(self, tokens: tf.Tensor) -> tf.Tensor:
        """Finds the window that contains the most context around each token.

        `token_windows.find_max_context_windows` defines the context.

        Args:
            tokens: int64 of any shape, indices of tokens, from 0 to P - 1.

        Returns:
            indices of the windows, int64 of the same shape.
        """
        # Begin with the last window that starts at or before each token, and
        # go back, window by window, while any of the windows may contain its
        # token. In the example of `cut_windows`, the token 4 is in the windows
        # 2, 1 and 0 of the second text, which start at 4, 2 and 0. It has 0, 1
        # and no tokens on its shorter side, so the window 1 is the best.
        ends = self.starts + self.lengths

        def may_contain_tokens(window: tf.Tensor, best: tf.Tensor) -> tf.Tensor:
            contains = tf.gather(ends, tf.maximum(window, 0)) > tokens
            return tf.reduce_any(contains & (window >= 0))

        def choose_better(
            window: tf.Tensor, best: tf.Tensor
        ) -> tuple[tf.Tensor, tf.Tensor]:
            # The loop visits the windows in reverse order. If two scores are
            # equal, choose the earlier window.
            earlier = tf.maximum(window, 0)
            earlier_score = self._score_context(tokens, earlier)
            is_better = earlier_score >= self._score_context(tokens, best)
            return window - 1, tf.where(is_better, earlier, best)

        last = tf.searchsorted(
            self.starts, tf.reshape(tokens, [-1]), "right", tf.int64
        )
        last = tf.reshape(last, tf.shape(tokens)) - 1
        _, best = tf.while_loop(
            may_contain_tokens, choose_better, (last - 1, last)
        )
        return best

    def _score_context(
        self, tokens: tf.Tensor, windows: tf.Tensor
    ) -> tf.Tensor:
        """Returns the context around each token in a window.

        `tokens` and `windows` are indices of one shape. The result is float64
        of this shape, and -infinity where the window lacks the token.
        """
        starts = tf.gather(self.starts, windows)
        lengths = tf.gather(self.lengths, windows)
        left = tokens - starts
        right = starts + lengths - 1 - tokens
        num_around = tf.minimum(left, right)
        # Use float64, because rounding to float32 could change which window has
        # the highest score.
        score = tf.cast(num_around, tf.float64)
        score += 0.01 * tf.cast(lengths, tf.float64)
        missing = tf.constant(-np.inf, tf.float64)
        return tf.where(num_around < 0, missing, score)


def cut_windows(
    tokens: tf.RaggedTensor,
    max_seq_length: int,
    stride: int,
    query: tf.RaggedTensor | None = None,
    min_windows: int = 0,
) -> Windows:
    """Cuts texts into overlapping windows that cover them.

    For example, texts of 0, 7 and 3 tokens become four windows of at most 4
    tokens, beside [CLS] and [SEP]. Each begins 2 tokens after the one before:

        tokens of the texts     0 1 2 3 4 5 6   7 8 9
        windows of the second   0 1 2 3
                                    2 3 4 5
                                        4 5 6
        window of the third                     7 8 9

    `text_indices` are 1, 1, 1 and 2, `starts` are 0, 2, 4 and 7, and `lengths`
    are 4, 4, 3 and 3.

    Args:
        tokens: ragged int32 [N, None], WordPiece ids of the texts.
        max_seq_length: length in WordPieces of a packed input. A window fills
            it, but the last window of a text may be shorter.
        stride: number of tokens from the start of a window to the start of the
            next window.
        query: ragged int32 [N, None], WordPiece ids before each window of a
            text. See Windows.
        min_windows: number of windows, 0 or 1, to create for a text that
            contains no tokens.
    """
    num_wordpieces = tokens.row_lengths()
    max_tokens = tf.zeros_like(num_wordpieces) + max_seq_length - 2
    if query is not None:
        max_tokens -= query.row_lengths() + 1
    strides = tf.minimum(max_tokens, stride)
    beyond = tf.maximum(num_wordpieces - max_tokens, 0)
    num_windows = 1 + (beyond + strides - 1) // strides
    num_windows = tf.where(num_wordpieces > 0, num_windows, min_windows)
    window_indices = tf.ragged.range(num_windows)
    text_indices = row_ids(
        window_indices.row_splits, tf.size(window_indices.flat_values)
    )
    starts = window_indices.flat_values * tf.gather(strides, text_indices)
    lengths = tf.minimum(
        tf.gather(num_wordpieces, text_indices) - starts,
        tf.gather(max_tokens, text_indices),
    )
    starts += tf.gather(tokens.row_starts(), text_indices)
    return Windows(text_indices, starts, lengths, tokens, query)
