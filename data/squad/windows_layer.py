"""SQuAD inside a graph: cuts questions and passages into windows.

The windows are those of windows.py, and decoder_layer.py makes answers of
them as decoding.py does; no Python runs when they are called.

N = questions, each with its passage; F = length of a window. Counted over all
passages together: P = WordPieces, C = characters after normalization, D = the
passages' own characters without white space, and words separated by white
space.
"""

import os
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from data.squad.windows import WindowOptions
from data.text import ragged
from data.text.tokenizer_layer import Characters, TokenizerLayer, utf8_length
from data.text.windows_layer import Windows, cut_windows

# As in reading.py; RE2's syntax differs from Python's.
_WHITE_SPACE = [ord(char) for char in " \t\r\n\u202f"]
_WHITE_SPACE_RUN = "[ \\t\\r\\n\\x{202F}]+"
# Marks that lower-casing drops, and a number above all code points.
_ACCENTS = np.array(
    [
        cp
        for cp in range(sys.maxunicode + 1)
        if unicodedata.category(chr(cp)) == "Mn"
    ]
    + [np.iinfo(np.int32).max],
    np.int32,
)


class Passages(NamedTuple):
    """Passages, and the maps from their WordPieces back to the text.

    Attributes:
        ids: ragged int32 [N, None], the WordPieces.
        num_unknown: int32 [P + 1], of [UNK] before each WordPiece.
        first_char: int32 [P + 1], the first character of each WordPiece, and
            C: a WordPiece ends where the next one begins.
        word_chars: int32 [words + 1], the first character of each word.
        word_letters: int32 [words + 1], its first letter: any character of the
            passage except white space.
        tokenized: string [N], `BasicTokenizer`'s tokens, a space before each.
        tokenized_starts: int32 [N], where each of `tokenized` would start, in
            bytes, if they were concatenated.
        char_starts: int32 [C], where each character starts there.
        char_sizes: int8 [C], its bytes.
        contexts: string [N], the passages as given.
        char_letters: int32 [C], the letter that each character came from.
        last_letters: int32 [D], the last of the dropped accents on each letter;
            the letter itself if there is none.
        texts: string [N], the words, each with a space before it.
        letter_starts: int32 [D], where each letter starts in its text.
        starts: int32 [D], where it starts in the passage as given, in bytes.
        sizes: int8 [D], its bytes.
    """

    ids: tf.RaggedTensor
    num_unknown: tf.Tensor
    first_char: tf.Tensor
    word_chars: tf.Tensor
    word_letters: tf.Tensor
    tokenized: tf.Tensor
    tokenized_starts: tf.Tensor
    char_starts: tf.Tensor
    char_sizes: tf.Tensor
    contexts: tf.Tensor
    char_letters: tf.Tensor
    last_letters: tf.Tensor
    texts: tf.Tensor
    letter_starts: tf.Tensor
    starts: tf.Tensor
    sizes: tf.Tensor


class SquadWindows:
    """Makes the windows of questions about passages, of any length.

    Args:
        vocab: see `TokenizerLayer`.
        do_lower_case: see `TokenizerLayer`.
        options: WindowOptions; F is its `max_seq_length`.
    """

    def __init__(
        self,
        vocab: str | os.PathLike[str] | Sequence[str],
        do_lower_case: bool,
        options: WindowOptions,
    ) -> None:
        self.tokenizer = TokenizerLayer(vocab, do_lower_case)
        self.max_seq_length = options.max_seq_length
        self.doc_stride = options.doc_stride
        self.max_query_length = options.max_query_length

    def __call__(
        self, questions: tf.Tensor, contexts: tf.Tensor
    ) -> tuple[Callable, Windows, tf.Tensor, Passages]:
        """Makes the windows.

        Args:
            questions: string [N].
            contexts: string [N], the passages.

        Returns:
            (pack, windows, first_places, passages): a function (begin, end)
            -> features of these windows, dict of int32 [end - begin, F],
            input_ids, input_mask, segment_ids; Windows; int64 [W], where in
            each window its part of the passage begins; Passages.
        """
        passages = read_passages(self.tokenizer, contexts)
        query = self.tokenizer(questions)[:, : self.max_query_length]
        query_lengths = query.row_lengths()
        windows = cut_windows(
            passages.ids.row_splits,
            self.max_seq_length - 3 - query_lengths,
            self.doc_stride,
        )
        first_places = tf.gather(query_lengths, windows.rows) + 2

        def pack(begin: tf.Tensor, end: tf.Tensor) -> dict[str, tf.Tensor]:
            return self._pack(
                windows.slice(begin, end),
                query,
                passages.ids,
                first_places[begin:end],
            )

        return pack, windows, first_places, passages

    def _pack(
        self,
        windows: Windows,
        query: tf.RaggedTensor,
        ids: tf.RaggedTensor,
        first_places: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        vocab = self.tokenizer.vocab
        num_windows = tf.size(windows.rows)
        cls = tf.fill([num_windows, 1], vocab.index("[CLS]"))
        sep = tf.fill([num_windows, 1], vocab.index("[SEP]"))
        parts = windows.tokens()
        parts = parts.with_flat_values(
            tf.gather(ids.flat_values, parts.flat_values)
        )
        rows = tf.concat(
            [cls, tf.gather(query, windows.rows), sep, parts, sep], 1
        )
        places = tf.range(self.max_seq_length, dtype=tf.int64)
        is_real = places < rows.row_lengths()[:, None]
        is_passage = is_real & (places >= first_places[:, None])
        return {
            "input_ids": rows.to_tensor(shape=[None, self.max_seq_length]),
            "input_mask": tf.cast(is_real, tf.int32),
            "segment_ids": tf.cast(is_passage, tf.int32),
        }


def read_passages(tokenizer: TokenizerLayer, contexts: tf.Tensor) -> Passages:
    """Tokenizes passages.

    Args:
        tokenizer: TokenizerLayer.
        contexts: string [N], UTF-8; bytes that are not UTF-8 are dropped.

    Returns:
        Passages.
    """
    given, starts = _decode(contexts)
    is_letter = tf.fill(tf.shape(given.flat_values), True)
    for cp in _WHITE_SPACE:
        is_letter &= given.flat_values != cp
    starts = tf.boolean_mask(starts, is_letter)

    cleaned = tf.strings.unicode_encode(given, "UTF-8")
    texts = tf.strings.regex_replace(
        tf.strings.join([" ", cleaned]), _WHITE_SPACE_RUN, " "
    )
    decoded, offsets = _decode(texts)
    is_space = decoded.flat_values == ord(" ")
    words = tf.cumsum(tf.cast(is_space, tf.int32)) - 1
    num_words = tf.math.count_nonzero(is_space, dtype=tf.int32)
    letter_words = tf.boolean_mask(words, ~is_space)
    letters = tf.boolean_mask(decoded.flat_values, ~is_space)
    # Byte offsets in the concatenated texts map characters to letters.
    text_bytes = tf.cumsum(tf.strings.length(texts), exclusive=True)
    rows = ragged.row_ids(
        tf.cast(decoded.row_splits, tf.int32), tf.size(is_space)
    )
    all_starts = tf.boolean_mask(
        offsets + tf.gather(text_bytes, rows), ~is_space
    )

    ids, first, _, chars = tokenizer.tokenize_with_chars(texts)
    char_rows = ragged.row_ids(chars.row_splits, tf.size(chars.cps))
    char_letters = tf.searchsorted(
        all_starts,
        tf.gather(chars.starts, chars.source)
        + tf.gather(text_bytes, char_rows),
    )
    is_unknown = ids.flat_values == tokenizer.vocab.index("[UNK]")
    return Passages(
        ids=ids,
        num_unknown=_cumulated(tf.cast(is_unknown, tf.int32)),
        first_char=tf.concat([first, tf.size(chars.cps)[None]], 0),
        word_chars=_first_of_each(
            tf.gather(letter_words, char_letters), num_words
        ),
        word_letters=_first_of_each(letter_words, num_words),
        **_join_words(chars),
        contexts=contexts,
        char_letters=char_letters,
        last_letters=_skip_accents(letters, letter_words, char_letters),
        texts=texts,
        letter_starts=tf.boolean_mask(offsets, ~is_space),
        starts=starts,
        sizes=tf.cast(utf8_length(letters), tf.int8),
    )


def _decode(texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Returns code points, ragged int32, and where they start, int32."""
    cps, starts = tf.strings.unicode_decode_with_offsets(
        texts, "UTF-8", errors="ignore"
    )
    return cps, tf.cast(starts.flat_values, tf.int32)


def _join_words(chars: Characters) -> dict[str, tf.Tensor]:
    """Returns the fields of Passages on `BasicTokenizer`'s tokens."""
    begun = tf.cumsum(tf.cast(chars.begins, tf.int32))
    num_chars = tf.size(chars.cps)
    num_words = tf.math.count_nonzero(chars.begins, dtype=tf.int32)
    # Each character is shifted by the spaces before its word.
    cps = tf.tensor_scatter_nd_update(
        tf.fill([num_chars + num_words], ord(" ")),
        (tf.range(num_chars) + begun)[:, None],
        chars.cps,
    )
    splits = chars.row_splits + tf.gather(
        tf.concat([[0], begun], 0), chars.row_splits
    )
    tokenized = tf.strings.unicode_encode(
        ragged.with_row_splits(cps, splits), "UTF-8"
    )
    sizes = utf8_length(chars.cps)
    return {
        "tokenized": tokenized,
        "tokenized_starts": tf.cumsum(
            tf.strings.length(tokenized), exclusive=True
        ),
        "char_starts": tf.cumsum(sizes, exclusive=True) + begun,
        "char_sizes": tf.cast(sizes, tf.int8),
    }


def _skip_accents(
    letters: tf.Tensor, letter_words: tf.Tensor, char_letters: tf.Tensor
) -> tf.Tensor:
    """Returns `Passages.last_letters`.

    Args:
        letters: int32 [D], their code points.
        letter_words: int32 [D], the word of each.
        char_letters: int32 [C], see Passages.
    """
    num_letters = tf.size(letters)
    index = tf.searchsorted(_ACCENTS, letters)
    is_accent = tf.gather(_ACCENTS, index) == letters
    is_dropped = tf.tensor_scatter_nd_update(
        tf.fill([num_letters], True),
        char_letters[:, None],
        tf.fill([tf.size(char_letters)], False),
    )
    begins_word = letter_words != tf.concat([[-1], letter_words], 0)[:-1]
    bases = tf.where(~(is_accent & is_dropped) | begins_word)[:, 0]
    bases = tf.cast(bases, tf.int32)
    following = tf.searchsorted(bases, tf.range(num_letters), side="right")
    return tf.gather(tf.concat([bases, [num_letters]], 0), following) - 1


def _cumulated(values: tf.Tensor) -> tf.Tensor:
    """Returns the exclusive cumulative sums, and the total."""
    return tf.concat([[0], tf.cumsum(values)], 0)


def _first_of_each(words: tf.Tensor, num_words: tf.Tensor) -> tf.Tensor:
    """Returns where each word begins, of the ascending words of characters."""
    return tf.searchsorted(words, tf.range(num_words + 1))
