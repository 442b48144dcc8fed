"""Cuts texts into words and windows, to find named entities in them.

The code consists of operations of a graph. No Python runs when the graph is
called. The graph cuts the same windows as windows.py.

N = number of texts.
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

    `texts` are string [N], UTF-8. Bytes that are not UTF-8 are dropped.
    """
    texts = drop_invalid(texts)
    texts = tf.strings.regex_replace(texts, r"(^|[\s\pZ])(\pP+)", r"\1\2 ")
    return tf.strings.regex_replace(texts, r"(\pP+)([\s\pZ]|$)", r" \1\2")


def cut_texts(
    texts: tf.Tensor, tokenizer: TokenizerLayer, max_seq_length: int
) -> tuple[tf.RaggedTensor, Windows, Callable, tf.Tensor]:
    """Splits texts into words at white space, and cuts them into windows.

    Args:
        texts: string [N], UTF-8. Bytes that are not UTF-8 are dropped.
        tokenizer: TokenizerLayer.
        max_seq_length: length of a window in WordPieces, at least 3.

    Returns:
        (words, windows, pack, places). `words` are the words of each text,
        ragged string [N, None]. `windows` are the Windows of all texts. `pack`
        is a function (begin, end) that returns the features of windows `begin`
        to `end` - 1: input_ids, input_mask and segment_ids, int32
        [end - begin, max_seq_length]. `places`, int64 [words, 2], contain for
        each word the index of the window and the position in this window at
        which the network predicts the word's tag.
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
    pieces = tokenizer(words.flat_values)
    # Every word needs a token, whose output predicts the word's tag. So use
    # [UNK] if the tokenizer drops all characters of a word.
    unknown = tf.fill([tf.size(words.flat_values), 1], tokenizer.id_of("[UNK]"))
    has_none = tf.cast(pieces.row_lengths() == 0, tf.int64)
    pieces = tf.concat(
        [pieces, tf.RaggedTensor.from_tensor(unknown, lengths=has_none)], 1
    )
    tokens = words.with_flat_values(pieces).merge_dims(1, 2)
    max_tokens = max_seq_length - 2
    windows = cut_windows(
        tokens.row_splits,
        tf.fill([tf.size(texts)], tf.constant(max_tokens, tf.int64)),
        max(max_tokens // 2, 1),
    )
    # For each word, choose the window where its first token has the most
    # context. Positions are one higher, because a window begins with [CLS].
    first = pieces.row_starts()
    window = windows.most_context(first)
    places = first - tf.gather(windows.starts, window) + 1

    def pack(begin: tf.Tensor, end: tf.Tensor) -> dict[str, tf.Tensor]:
        return windows.slice(begin, end).pack(tokenizer, tokens, max_seq_length)

    return words, windows, pack, tf.stack([window, places], 1)
