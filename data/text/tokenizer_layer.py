"""Tokenizes string tensors inside a TensorFlow graph, as a Keras layer.

For any text, the layer returns the same ids as `FullTokenizer` in
tokenization.py, which tests/data/text/test_tokenizer_layer.py compares. So a
served model tokenizes as in training. BertTokenizer of TensorFlow Text may
return other ids. The layer consists of TensorFlow's own operations, so its
graph runs without Python wherever TensorFlow does, including in
`saved_model_cli`.

The layer needs less than 100 bytes of memory for each byte of text, even if the
words are long.

N = number of texts. D, C, W and P are totals over all texts: D = code points of
the decoded texts, C = normalized code points that are no white space, W =
words, P = WordPieces.
"""

import functools
import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from data.text import ragged
from data.text.normalization_graph import BORDER, create_tables, normalize
from data.text.wordpiece_graph import WordpieceSplitter


class Characters(NamedTuple):
    """The normalized characters of all texts, without white space.

    Attributes:
        decoded_indices: int32 [C], index in `decoded` of the code point that a
            character came from.
        decoded: int32 [D], code points of the original texts. Each text ends
            with a line end.
    """

    decoded_indices: tf.Tensor
    decoded: tf.Tensor


class TokenizedTexts(NamedTuple):
    """The WordPieces of N texts, and the characters that they consist of.

    Attributes:
        ids: ragged int32 [N, None], WordPiece ids, P in all texts.
        first_chars: int32 [P + 1], index in `chars` of each WordPiece's first
            character, then C. A WordPiece ends where the next one begins.
        chars: the C characters of all texts, one after another.
    """

    ids: tf.RaggedTensor
    first_chars: tf.Tensor
    chars: Characters


class TokenizerLayer(keras.layers.Layer):
    """Tokenizes texts to the same WordPiece ids as `FullTokenizer`.

    `FullTokenizer.layer` creates this layer.

    Args:
        vocab: the WordPieces in the order of their ids.
        do_lower_case: whether to lower-case the text and strip accents.
        special_words: WordPieces such as [MASK] that stay whole where a text
            contains them. `tokenize_with_chars` splits them.
        **kwargs: arguments of keras.layers.Layer.

    Call arguments:
        texts: string [N], UTF-8. Bytes that are not UTF-8 are dropped.

    Returns:
        ragged int32 [N, None], the WordPiece ids, without [CLS] and [SEP].

    Raises:
        ValueError: the vocabulary does not contain [UNK].
    """

    def __init__(
        self,
        vocab: Sequence[str],
        do_lower_case: bool = True,
        special_words: Collection[str] = (),
        **kwargs: Any,  # of keras.layers.Layer
    ) -> None:
        super().__init__(**kwargs)
        self.special_words = tuple(special_words)
        # Do not store a list, because Keras would track each of its elements.
        self._vocab = np.array(vocab, object)
        self.do_lower_case = do_lower_case
        self._tables = create_tables(do_lower_case)
        self._splitter = WordpieceSplitter(self.vocab, self.id_of("[UNK]"))
        # Create one tf.function, so that all models that contain this layer use
        # the same graph.
        self._graph = tf.function(
            self._tokenize, [tf.TensorSpec([None], tf.string)], autograph=False
        )
        self.built = True  # The layer has no weights.

    @functools.cached_property
    def vocab(self) -> list[str]:
        """The WordPieces in the order of their ids."""
        # The cache does not assign an attribute, so that Keras tracks nothing.
        vocab: list[str] = self._vocab.tolist()
        return vocab

    def id_of(self, token: str) -> int:
        """Returns the id of a WordPiece. Raises ValueError if it is missing."""
        # If the vocabulary repeats a WordPiece, its last id counts.
        return len(self.vocab) - 1 - self.vocab[::-1].index(token)

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the WordPiece ids of the texts, ragged int32 [N, None]."""
        return self.tokenize_around(texts, self.special_words)

    def tokenize_around(
        self, texts: tf.Tensor, words: Collection[str]
    ) -> tf.RaggedTensor:
        """Tokenizes texts, string [N], in which special words stay whole.

        Args:
            texts: string [N].
            words: WordPieces of the vocabulary, such as [MASK].

        Returns:
            ragged int32 [N, None], the WordPiece ids.
        """
        if not words:
            return self.tokenize_with_chars(texts).ids
        texts = drop_invalid(tf.reshape(texts, [-1]))
        # Mark the words with a control character, which texts may contain too.
        # The tokenizer drops it, and the one that stands for it in the texts.
        texts = tf.strings.regex_replace(texts, "\1", "\2")
        pattern = "|".join(map(re.escape, words))
        texts = tf.strings.regex_replace(texts, f"({pattern})", "\1\\1\1")
        parts = tf.strings.split(texts, "\1")
        is_word = parts.flat_values[:, None] == tf.constant([*words])
        is_special = tf.reduce_any(is_word, 1)
        rest = tf.where(is_special, "", parts.flat_values)
        ids = tf.constant([*map(self.id_of, words)])
        # Of each special part, the index of its word.
        word_indices = tf.where(is_word)[:, 1]
        special = tf.RaggedTensor.from_row_lengths(
            tf.gather(ids, word_indices),
            tf.cast(is_special, tf.int64),
            validate=False,
        )
        # A part is either a special word or other text. The row of its ids is
        # empty in the other tensor, so joining the rows keeps their order.
        rest_ids = self.tokenize_with_chars(rest).ids
        joined = tf.concat([special, rest_ids], 1)
        return parts.with_flat_values(joined).merge_dims(1, 2)

    def tokenize_with_chars(self, texts: tf.Tensor) -> TokenizedTexts:
        """Tokenizes texts, string [N], and returns their characters too."""
        # Flatten other shapes, such as [N, 1] of `keras.Input((1,))`.
        return TokenizedTexts(*self._graph(tf.reshape(texts, [-1])))

    def _tokenize(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.Tensor, Characters]:
        """Computes the attributes of TokenizedTexts.

        A tuple, because the graph's signature in a SavedModel names the type.
        """
        # Add a line end to each text. Otherwise the last word of a text would
        # merge with the first word of the next text, and combining marks at the
        # start of a text would attach to the end of the previous text.
        row_splits, decoded = tf.raw_ops.UnicodeDecode(
            input=tf.strings.join([texts, "\n"]),
            input_encoding="UTF-8",
            errors="replace",
            Tsplits=tf.int32,
        )
        chars = normalize(decoded, self._tables, self.do_lower_case)
        # In `decoded_indices`, each text's indices are below the next text's
        # indices, because `_reorder` moves combining marks only within a text.
        row_splits = tf.searchsorted(chars.decoded_indices, row_splits)
        # A word begins or ends at white space, and before and after a character
        # that is a word of its own, such as punctuation.
        is_border = (chars.flags & BORDER) > 0
        is_after_border = tf.concat([[True], is_border], 0)[:-1]
        ids, ends = self._splitter.split(
            chars.code_points, is_border | is_after_border
        )
        # Run this step after `split`, so that the two steps do not need memory
        # at the same time. TensorFlow skips it if only the ids are used.
        with tf.control_dependencies([ends]):
            in_words = ragged.true_indices(chars.code_points != ord(" "))
        return (
            ragged.with_row_splits(ids, tf.searchsorted(ends, row_splits)),
            tf.concat([[0], tf.searchsorted(in_words, ends)], 0),
            Characters(tf.gather(chars.decoded_indices, in_words), decoded),
        )


def utf8_length(code_points: tf.Tensor) -> tf.Tensor:
    """Returns the number of bytes of each code point in UTF-8, int8."""
    further = sum(
        tf.cast(code_points >= least, tf.int8)
        for least in (0x80, 0x800, 0x10000)
    )
    return tf.convert_to_tensor(1 + further)


def drop_invalid(texts: tf.Tensor) -> tf.Tensor:
    """Drops the bytes of texts, string [...], that are not UTF-8."""
    return tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", errors="ignore"
    )
