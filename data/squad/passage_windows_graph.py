"""Cuts SQuAD's questions and passages into windows with TensorFlow operations.

An exported model runs the graph without Python. `create_windows` cuts the same
windows as `create_squad_features` in data/squad/passage_windows.py.
test_answer_decoding_graph.py compares the two.

N = questions, each with its passage. W = windows. T = length of a window.
P, C and D are totals over all passages: P = WordPieces, C = characters after
normalization, without white space, D = code points before normalization, with
the line end that the tokenizer adds to each passage.
"""

import functools
import sys
import unicodedata
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.arrays import IntArray
from data.squad.squad_options import WindowOptions
from data.text import ragged
from data.text.token_windows_graph import Windows, cut_windows
from data.text.tokenizer_layer import (
    Characters,
    TokenizerLayer,
    drop_invalid,
    utf8_length,
)

# The characters that are white space in the pattern WORD of
# data/squad/squad_examples.py, first as code points, then as a regular
# expression for TensorFlow (RE2).
_WHITE_SPACE = [ord(char) for char in " \t\r\n\u202f"]
WHITE_SPACE_RUN = "[ \\t\\r\\n\\x{202F}]+"


@functools.cache
def _list_accents() -> IntArray:
    """Returns the code points of marks that lower-casing drops, ascending.

    The last number is greater than all code points, so that a binary search for
    any code point returns a valid index.
    """
    marks = [
        code_point
        for code_point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code_point)) == "Mn"
    ]
    return np.array([*marks, np.iinfo(np.int32).max], np.int32)


class Passages(NamedTuple):
    r"""N tokenized passages, and maps from their WordPieces back to the text.

    WordPieces, characters, code points and words are numbered consecutively
    across all passages.

        code points         c a f e \u0301 _ ( 1 9 )  \n    _ = a space
        their indices       0 1 2 3 4      5 6 7 8 9  10    D = 11
        start_bytes         0 1 2 3 4      6 7 8 9 10 11
        num_bytes           1 1 1 1 2      1 1 1 1 1  1
        not_before_accent   0 1 2   4      5 6 7 8 9  10    \u0301 follows 3
        word_edges          0              5 6        10
        source_code_points  0 1 2 3          6 7 8 9        C = 8
        first_chars         0                4 5   7  8     cafe ( 19 ), then C

    Attributes:
        num_unknown: int32 [P + 1], number of [UNK] before each WordPiece.
        first_chars: int32 [P + 1], the first character of each WordPiece. A
            WordPiece ends where the next WordPiece begins. The last value is C.
        contexts: string [N], the passages before any change.
        source_code_points: int32 [C], the code point from which each character
            comes.
        not_before_accent: int32, the code points that no accent follows which
            lower-casing drops, ascending.
        word_edges: int32, the first code point of each word and of each run of
            white space, which alternate.
        start_bytes: int32 [D], offset of each code point in its passage.
        num_bytes: int8 [D], number of bytes of each code point.
    """

    num_unknown: tf.Tensor
    first_chars: tf.Tensor
    contexts: tf.Tensor
    source_code_points: tf.Tensor
    not_before_accent: tf.Tensor
    word_edges: tf.Tensor
    start_bytes: tf.Tensor
    num_bytes: tf.Tensor


def create_windows(
    tokenizer: TokenizerLayer,
    options: WindowOptions,
    questions: tf.Tensor,
    contexts: tf.Tensor,
) -> tuple[Windows, Passages]:
    """Cuts questions and passages of any length into windows for the network.

    Args:
        tokenizer: layer with the model's vocabulary.
        options: how to cut windows.
        questions: string [N].
        contexts: string [N], the passage of each question, UTF-8. Bytes that
            are not UTF-8 are dropped.

    Returns:
        the windows of all questions, and the passages.
    """
    # Run the steps that need the most memory first, while few tensors exist.
    # Each step waits until the preceding step is done, so that the temporary
    # tensors of two steps are never in memory together.
    _, _, start_bytes = tf.raw_ops.UnicodeDecodeWithOffsets(
        input=tf.strings.join([contexts, "\n"]),
        input_encoding="UTF-8",
        errors="ignore",
    )
    start_bytes = tf.cast(start_bytes, tf.int32)
    with tf.control_dependencies([start_bytes]):
        texts = drop_invalid(contexts)
        tokenized = tokenizer.tokenize_with_chars(texts)
    chars = tokenized.chars
    with tf.control_dependencies([tokenized.first_chars, *chars]):
        not_before_accent = _list_not_before_accent(chars)
    with tf.control_dependencies([not_before_accent]):
        word_edges = _list_word_edges(chars.decoded)
    with tf.control_dependencies([word_edges]):
        is_unknown = tokenized.ids.flat_values == tokenizer.id_of("[UNK]")
        num_unknown = tf.cumsum(tf.cast(is_unknown, tf.int32))
    query = tokenizer(questions)[:, : options.max_query_length]
    windows = cut_windows(
        tokenized.ids, options.max_seq_length, options.doc_stride, query
    )
    return windows, Passages(
        num_unknown=tf.concat([[0], num_unknown], 0),
        first_chars=tokenized.first_chars,
        contexts=contexts,
        source_code_points=chars.decoded_indices,
        not_before_accent=not_before_accent,
        word_edges=word_edges,
        start_bytes=start_bytes,
        num_bytes=utf8_length(chars.decoded),
    )


def _list_word_edges(decoded: tf.Tensor) -> tf.Tensor:
    """Returns `Passages.word_edges` of code points, int32 [D].

    Examples:
        >>> decoded = tf.constant([*map(ord, "cafe (19)")])
        >>> _list_word_edges(decoded).numpy().tolist()
        [0, 4, 5]
    """
    is_space = tf.zeros_like(decoded, tf.bool)
    for code_point in _WHITE_SPACE:
        is_space |= decoded == code_point
    changes = tf.concat([[True], is_space[1:] != is_space[:-1]], 0)
    return ragged.true_indices(changes)


def _list_not_before_accent(chars: Characters) -> tf.Tensor:
    """Returns `Passages.not_before_accent`."""
    index = tf.searchsorted(_list_accents(), chars.decoded)
    is_accent = tf.gather(_list_accents(), index) == chars.decoded
    # Lower-casing drops an accent if no normalized character comes from it.
    is_dropped = tf.tensor_scatter_nd_update(
        is_accent,
        chars.decoded_indices[:, None],
        tf.fill([tf.size(chars.decoded_indices)], False),
    )
    # In "cafe\u0301_", is_dropped is 0 0 0 0 1 0. What follows each code point
    # is then kept in 1 1 1 0 1 1, because nothing follows the last one.
    is_next_kept = tf.concat([~is_dropped, [True]], 0)[1:]
    return ragged.true_indices(is_next_kept)
