"""Cuts SQuAD's questions and passages into windows with TensorFlow operations.

The windows are the same as in passage_windows.py, but an exported model creates
them without Python.

N = questions, each with its passage. W = windows. F = length of a window.
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
from data.text.packing_layer import Windows, cut_windows
from data.text.tokenizer_layer import (
    Characters,
    TokenizerLayer,
    drop_invalid,
    utf8_length,
)

# The characters that are white space in the pattern WORD of squad_examples.py,
# first as code points, then as a regular expression for TensorFlow (RE2).
_WHITE_SPACE = [ord(char) for char in " \t\r\n\u202f"]
WHITE_SPACE_RUN = "[ \\t\\r\\n\\x{202F}]+"


@functools.cache
def _list_accents() -> IntArray:
    """Returns the combining marks that lower-casing drops, ascending.

    They are code points. The last number is greater than all code points, so
    that a binary search for any code point returns a valid index.
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

        code points  c a f e \u0301 _ ( 1 9 ) \n      _ = a space
        first_char   0 4 5 7, then C = 8            cafe ( 19 )
        sources      0 1 2 3 6 7 8 9                not \u0301 and spaces
        ends         0 1 2 4 5 6 7 8 9 10           not e, whose accent follows
        word_edges   0 5 6 10

    Attributes:
        num_unknown: int32 [P + 1], number of [UNK] before each WordPiece.
        first_char: int32 [P + 1], the first character of each WordPiece. A
            WordPiece ends where the next WordPiece begins. The last value is C.
        contexts: string [N], the passages before any change.
        sources: int32 [C], the code point from which each character comes.
        ends: int32, the code points that no accent follows which lower-casing
            drops, ascending.
        word_edges: int32, the first code point of each word and of each run of
            white space, which alternate.
        starts: int32 [D], offset in bytes of each code point in its passage.
        sizes: int8 [D], number of bytes of each code point.
    """

    num_unknown: tf.Tensor
    first_char: tf.Tensor
    contexts: tf.Tensor
    sources: tf.Tensor
    ends: tf.Tensor
    word_edges: tf.Tensor
    starts: tf.Tensor
    sizes: tf.Tensor


def create_windows(
    tokenizer: TokenizerLayer,
    options: WindowOptions,
    questions: tf.Tensor,
    contexts: tf.Tensor,
) -> tuple[Windows, Passages]:
    """Cuts questions and passages of any length into windows for the network.

    Args:
        tokenizer: TokenizerLayer with the model's vocabulary.
        options: WindowOptions, such as the length of a window.
        questions: string [N].
        contexts: string [N], the passage of each question, UTF-8. Bytes that
            are not UTF-8 are dropped.

    Returns:
        the windows of all questions, and the passages.
    """
    # Run the steps that need the most memory first, while few tensors exist.
    # Each step waits until the preceding step is done, so that the temporary
    # tensors of two steps are never in memory together.
    _, _, starts = tf.raw_ops.UnicodeDecodeWithOffsets(
        input=tf.strings.join([contexts, "\n"]),
        input_encoding="UTF-8",
        errors="ignore",
    )
    starts = tf.cast(starts, tf.int32)
    with tf.control_dependencies([starts]):
        texts = drop_invalid(contexts)
        tokenized = tokenizer.tokenize_with_chars(texts)
    chars = tokenized.chars
    with tf.control_dependencies([tokenized.first_char, *chars]):
        ends = _find_ends(chars)
    with tf.control_dependencies([ends]):
        is_space = tf.fill(tf.shape(starts), False)
        for code_point in _WHITE_SPACE:
            is_space |= chars.decoded == code_point
        changes = tf.concat([[True], is_space[1:] != is_space[:-1]], 0)
        word_edges = ragged.true_indices(changes)
    with tf.control_dependencies([word_edges]):
        is_unknown = tokenized.ids.flat_values == tokenizer.id_of("[UNK]")
        num_unknown = tf.cumsum(tf.cast(is_unknown, tf.int32))
    query = tokenizer(questions)[:, : options.max_query_length]
    windows = cut_windows(
        tokenized.ids, options.max_seq_length, options.doc_stride, query
    )
    return windows, Passages(
        num_unknown=tf.concat([[0], num_unknown], 0),
        first_char=tokenized.first_char,
        contexts=contexts,
        sources=chars.source,
        ends=ends,
        word_edges=word_edges,
        starts=starts,
        sizes=utf8_length(chars.decoded),
    )


def _find_ends(chars: Characters) -> tf.Tensor:
    """Returns `Passages.ends`: code points before no dropped accent."""
    index = tf.searchsorted(_list_accents(), chars.decoded)
    is_accent = tf.gather(_list_accents(), index) == chars.decoded
    # Lower-casing drops an accent if no normalized character comes from it.
    is_dropped = tf.tensor_scatter_nd_update(
        is_accent,
        chars.source[:, None],
        tf.fill([tf.size(chars.source)], False),
    )
    return ragged.true_indices(tf.concat([~is_dropped, [True]], 0)[1:])
