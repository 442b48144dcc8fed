"""Cuts SQuAD's questions and passages into windows with TensorFlow operations.

The windows are the same as in passage_windows.py, but an exported model creates
them without Python.

N = questions, each with its passage. W = windows. F = length of a window.
P, C and D are totals over all passages: P = WordPieces, C = characters after
normalization, D = characters before normalization, except white space. In the
code, these D characters are called letters. They include digits and
punctuation.
"""

import functools
import sys
import unicodedata
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.squad.passage_windows import WindowOptions
from data.text import ragged
from data.text.packing_layer import Windows, cut_windows
from data.text.tokenizer_layer import (
    Characters,
    TokenizerLayer,
    drop_invalid,
    utf8_length,
)

# The characters that are white space in the pattern WORD of reading.py, first
# as code points, then as a regular expression for TensorFlow (RE2).
_WHITE_SPACE = [ord(char) for char in " \t\r\n\u202f"]
WHITE_SPACE_RUN = "[ \\t\\r\\n\\x{202F}]+"


@functools.cache
def _accents() -> np.ndarray:
    # Returns the combining marks that lower-casing drops, ascending code
    # points. The last number is greater than all code points, so that a binary
    # search for any code point returns a valid index.
    marks = [
        code_point
        for code_point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code_point)) == "Mn"
    ]
    return np.array([*marks, np.iinfo(np.int32).max], np.int32)


class Passages(NamedTuple):
    """N tokenized passages, and maps from their WordPieces back to the text.

    All passages together contain P WordPieces, C characters after normalization
    (called characters below) and D characters before normalization except white
    space (called letters below). Characters, letters and words are numbered
    consecutively across all passages.

    Attributes:
        num_unknown: int32 [P + 1], number of [UNK] before each WordPiece.
        first_char: int32 [P + 1], the first character of each WordPiece. A
            WordPiece ends where the next WordPiece begins. The last value is C.
        word_letters: int32 [words + 1], the first letter of each word.
        contexts: string [N], the passages before any change.
        char_letters: int32 [C], the letter from which each character comes.
        last_letters: int32 [D], for each letter, the last of the following
            accents that lower-casing drops. Without such an accent, the letter
            itself.
        starts: int32 [D], offset in bytes of each letter in its passage.
        sizes: int8 [D], number of bytes of each letter.
    """

    num_unknown: tf.Tensor
    first_char: tf.Tensor
    word_letters: tf.Tensor
    contexts: tf.Tensor
    char_letters: tf.Tensor
    last_letters: tf.Tensor
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
    texts = tf.strings.regex_replace(
        tf.strings.join([" ", drop_invalid(contexts)]), WHITE_SPACE_RUN, " "
    )
    # Run the steps that need the most memory first, while few tensors exist.
    # Each step waits until the preceding step is done, so that the temporary
    # tensors of two steps are never in memory together.
    starts = _find_starts(contexts)
    with tf.control_dependencies([starts]):
        ids, first_char, chars = tokenizer.tokenize_with_chars(texts)
    with tf.control_dependencies([first_char, *chars]):
        letters = _find_letters(chars)
    with tf.control_dependencies(letters.values()):
        is_unknown = ids.flat_values == tokenizer.id_of("[UNK]")
        begun = tf.cumsum(tf.cast(is_unknown, tf.int32))
        num_unknown = tf.concat([[0], begun], 0)
    query = tokenizer(questions)[:, : options.max_query_length]
    windows = cut_windows(
        ids, options.max_seq_length, options.doc_stride, query
    )
    return windows, Passages(
        num_unknown=num_unknown,
        first_char=first_char,
        contexts=contexts,
        **letters,
        starts=starts,
    )


def _find_letters(chars: Characters) -> dict[str, tf.Tensor]:
    # Returns the fields `word_letters`, `char_letters`, `last_letters` and
    # `sizes` of Passages.
    is_space = chars.decoded == ord(" ")
    is_letter = ~(is_space | (chars.decoded == ord("\n")))
    # The number of letters up to and including each code point.
    count = tf.cumsum(tf.cast(is_letter, tf.int32))
    spaces = ragged.where(is_space)
    # To limit memory, each step waits until the preceding step is done, as in
    # `create_windows`.
    with tf.control_dependencies([count, spaces]):
        at = ragged.where(is_letter)
        letters = tf.gather(chars.decoded, at)
        sizes = utf8_length(letters)
    with tf.control_dependencies([sizes]):
        index = tf.searchsorted(_accents(), letters)
        is_accent = tf.gather(_accents(), index) == letters
    with tf.control_dependencies([is_accent]):
        begins_word = tf.gather(is_space, at - 1)
    with tf.control_dependencies([begins_word]):
        source = tf.identity(chars.source)
        char_letters = tf.gather(count, source) - 1
        # A space precedes each word.
        word_letters = tf.gather(count, spaces)
    with tf.control_dependencies([char_letters, word_letters]):
        # Lower-casing drops an accent if no normalized character comes from it.
        is_dropped = tf.tensor_scatter_nd_update(
            is_accent,
            char_letters[:, None],
            tf.fill([tf.size(char_letters)], False),
        )
        # Group letters into runs. A run is a base letter and the dropped
        # combining marks that follow it.
        is_base = ~is_dropped | begins_word
        runs = tf.cumsum(tf.cast(is_base, tf.int32)) - 1
        ends = ragged.where(tf.concat([is_base, [True]], 0)[1:])
        last_letters = tf.gather(ends, runs)
    return {
        "word_letters": tf.concat([word_letters, [tf.size(letters)]], 0),
        "char_letters": char_letters,
        "last_letters": last_letters,
        "sizes": sizes,
    }


def _find_starts(contexts: tf.Tensor) -> tf.Tensor:
    # Returns the byte offset of each letter in its passage, int32 [D].
    _, decoded, starts = tf.raw_ops.UnicodeDecodeWithOffsets(
        input=contexts, input_encoding="UTF-8", errors="ignore"
    )
    starts = tf.cast(starts, tf.int32)
    with tf.control_dependencies([starts]):
        is_letter = tf.fill(tf.shape(decoded), True)
        for cp in _WHITE_SPACE:
            is_letter &= decoded != cp
        return tf.gather(starts, ragged.where(is_letter))
