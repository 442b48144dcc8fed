"""Cuts texts into words and windows inside a graph, to find named entities.

The windows are the same as in windows.py. No Python runs when the graph is
called.

N = texts, F = length of a window, W = windows, L = labels.
"""

from collections.abc import Callable

import tensorflow as tf

from data.text import ragged
from data.text.tokenizer_layer import TokenizerLayer, drop_invalid
from data.text.windows_layer import Windows, cut_windows

# Regular expression (RE2) of the white space at which `str.split` splits.
_WHITE_SPACE_RUN = "[\\x09-\\x0d\\x1c-\\x20\\x{85}\\pZ]+"


def split_punctuation(texts: tf.Tensor) -> tf.Tensor:
    """Puts spaces around the punctuation that begins or ends words.

        He's "in" (St. Ives). -> He's " in " ( St . Ives ).

    Args:
        texts: string [N], UTF-8. Bytes that are not UTF-8 are dropped.

    Returns:
        string [N].
    """
    texts = drop_invalid(texts)
    texts = tf.strings.regex_replace(texts, r"(^|[\s\pZ])(\pP+)", r"\1\2 ")
    return tf.strings.regex_replace(texts, r"(\pP+)([\s\pZ]|$)", r" \1\2")


class NerWindows:
    """Cuts texts of any length into windows of F = `max_seq_length` WordPieces.

    Raises:
        ValueError: max_seq_length is less than 3.
    """

    def __init__(self, tokenizer: TokenizerLayer, max_seq_length: int) -> None:
        if max_seq_length < 3:
            raise ValueError(
                "max_seq_length must be at least 3, for [CLS], a token and "
                f"[SEP]. Received: max_seq_length={max_seq_length}"
            )
        self.tokenizer = tokenizer
        self.max_seq_length = max_seq_length

    def __call__(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, Windows, Callable, tf.Tensor]:
        """Cuts texts, with white space between words, into windows.

        Args:
            texts: string [N], UTF-8. Bytes that are not UTF-8 are dropped.

        Returns:
            (words, windows, pack, places). `words` are ragged string [N, None].
            `windows` are Windows. `pack` is a function (begin, end) that
            returns the features of windows `begin` to `end` - 1: input_ids,
            input_mask and segment_ids, int32 [end - begin, F]. `places`, int64
            [words, 2], contain the window and the position in the window that
            determine each word's tag.
        """
        texts = drop_invalid(texts)
        words = tf.strings.split(
            tf.strings.regex_replace(texts, _WHITE_SPACE_RUN, " "), " "
        )
        indexes = tf.where(words.flat_values != "")[:, 0]
        words = ragged.with_row_splits(
            tf.gather(words.flat_values, indexes),
            tf.searchsorted(indexes, words.row_splits),
        )
        pieces = self.tokenizer(words.flat_values)
        # Every word needs a token for its tag.
        unknown = tf.fill(
            [tf.size(words.flat_values), 1], self.tokenizer.id_of("[UNK]")
        )
        has_none = tf.cast(pieces.row_lengths() == 0, tf.int64)
        pieces = tf.concat(
            [pieces, tf.RaggedTensor.from_tensor(unknown, lengths=has_none)], 1
        )
        tokens = words.with_flat_values(pieces).merge_dims(1, 2)
        max_tokens = self.max_seq_length - 2
        windows = cut_windows(
            tokens.row_splits,
            tf.fill([tf.size(texts)], tf.constant(max_tokens, tf.int64)),
            max(max_tokens // 2, 1),
        )
        # Choose the window where each word's first token has the most context.
        # Positions in a window are one higher, because of [CLS].
        first = pieces.row_starts()
        window = windows.most_context(first)
        places = first - tf.gather(windows.starts, window) + 1
        return (
            words,
            windows,
            lambda begin, end: windows.slice(begin, end).pack(
                self.tokenizer, tokens, self.max_seq_length
            ),
            tf.stack([window, places], 1),
        )
