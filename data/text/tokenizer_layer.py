"""Tokenizes string tensors inside a TensorFlow graph, as a Keras layer.

For any text, the layer returns the same ids as `FullTokenizer`, so a served
model tokenizes as in training. BertTokenizer of TensorFlow Text may return
other ids. The layer consists of TensorFlow's own operations, so its graph runs
without Python wherever TensorFlow does, including in `saved_model_cli`.

The layer needs less than 100 bytes of memory for each byte of text, even if the
words are long.

N = number of texts. D, C, W and P are totals over all texts: D = code points of
the decoded texts, C = code points after normalization, W = words, P =
WordPieces.
"""

import functools
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from data.text import ragged, unicode_tables
from data.text.wordpiece import special_token_pattern
from data.text.wordpiece_graph import WordpieceTrie


class Characters(NamedTuple):
    """The normalized characters of all texts, without white space.

    Attributes:
        source: int32 [C], index in `decoded` of the code point that a character
            came from.
        decoded: int32 [D], code points of the original texts. Each text ends
            with a line end.
    """

    source: tf.Tensor
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


class _Normalized(NamedTuple):
    """K normalized code points of all texts, including white space.

    Attributes:
        code_points: int32 [K]. Until `_expand` is called, a character that
            becomes several code points is represented by the index of its row
            in `UnicodeTables.several`.
        flags: int32 [K], the flags of unicode_tables.py.
        source: int32 [K], index of the decoded code point that a code point
            came from, from 0 to D - 1.
    """

    code_points: tf.Tensor
    flags: tf.Tensor
    source: tf.Tensor


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
        self._tables = unicode_tables.create_tables(do_lower_case)
        self._trie = WordpieceTrie(self.vocab, self.id_of("[UNK]"))
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
        texts = tf.strings.regex_replace(
            texts, special_token_pattern(words), "\1\\1\1"
        )
        parts = tf.strings.split(texts, "\1")
        is_word = parts.flat_values[:, None] == tf.constant([*words])
        is_special = tf.reduce_any(is_word, 1)
        rest = tf.where(is_special, "", parts.flat_values)
        ids = tf.constant([*map(self.id_of, words)])
        special = tf.RaggedTensor.from_row_lengths(
            tf.gather(ids, tf.where(is_word)[:, 1]),
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
        chars = self._normalize(decoded)
        # In `source`, each text's indices are below the next text's indices,
        # because `_reorder` moves combining marks only within a text.
        row_splits = tf.searchsorted(chars.source, row_splits)
        # A word begins or ends at white space, and before and after a character
        # that is a word of its own, such as punctuation.
        is_border = (chars.flags & unicode_tables.BORDER) > 0
        begins = is_border | tf.concat([[True], is_border], 0)[:-1]
        ids, ends = self._trie.split(chars.code_points, begins)
        # Run this step after `split`, so that the two steps do not need memory
        # at the same time. TensorFlow skips it if only the ids are used.
        with tf.control_dependencies([ends]):
            in_words = ragged.true_indices(chars.code_points != ord(" "))
        return (
            ragged.with_row_splits(ids, tf.searchsorted(ends, row_splits)),
            tf.concat([[0], tf.searchsorted(in_words, ends)], 0),
            Characters(tf.gather(chars.source, in_words), decoded),
        )

    def _normalize(self, decoded: tf.Tensor) -> _Normalized:
        """Normalizes code points, int32 [D], as `BasicTokenizer` does."""
        flags, code_points = self._tables.lookup(decoded)
        is_dropped = flags & unicode_tables.DROPPED  # 1 = dropped
        chars = _Normalized(
            *(
                tf.dynamic_partition(values, is_dropped, 2)[0]
                for values in (
                    code_points,
                    flags,
                    tf.range(tf.size(code_points)),
                )
            )
        )
        if not self.do_lower_case:
            return chars
        return tf.cond(
            tf.reduce_any((flags & unicode_tables.ODD) > 0),
            lambda: self._reorder(self._expand(_lower_sigmas(chars)), flags),
            lambda: chars,
        )

    def _expand(self, chars: _Normalized) -> _Normalized:
        """Replaces indices of rows of `UnicodeTables.several` by the rows.

        The comments show the values of `x가y각`, if row 0 is [ᄀ ᅡ -1] and row 1
        is [ᄀ ᅡ ᆨ]. Then `chars.code_points` are [x 0 y 1].
        """
        # [1 3], where an index is
        replaced = ragged.true_indices(
            (chars.flags & unicode_tables.SEVERAL) > 0
        )
        rows = tf.gather(
            self._tables.several, tf.gather(chars.code_points, replaced)
        )
        # [[1 1 0] [1 1 1]]. -1 fills up a row.
        is_code_point = rows >= 0
        # [1 2]
        num_added = (
            tf.math.count_nonzero(is_code_point, axis=1, dtype=tf.int32) - 1
        )
        num_chars = tf.size(chars.code_points)
        # [1 3 4 7], where each character ends in the result
        ends = tf.cumsum(
            1 + tf.math.unsorted_segment_sum(num_added, replaced, num_chars)
        )
        # [0 1 1 2 3 3 3], the character that each code point comes from
        origin = ragged.row_ids(
            tf.concat([[0], ends], 0), num_chars + tf.reduce_sum(num_added)
        )
        # [1 4], where the first code point of each row is in the result
        first = tf.gather(ends, replaced) - num_added - 1
        # [1 2 4 5 6], where all code points of the rows are
        new_indices = tf.boolean_mask(
            first[:, None] + tf.range(3), is_code_point
        )
        # The code points are first [x 0 0 y 1 1 1], then [x ᄀ ᅡ y ᄀ ᅡ ᆨ].
        chars = _Normalized(*(tf.gather(value, origin) for value in chars))
        code_points = tf.tensor_scatter_nd_update(
            chars.code_points,
            new_indices[:, None],
            tf.boolean_mask(rows, is_code_point),
        )
        return chars._replace(code_points=code_points)

    def _reorder(
        self, chars: _Normalized, decoded_flags: tf.Tensor
    ) -> _Normalized:
        """Sorts the combining marks after each base character.

        Unicode's NFD defines the order. `decoded_flags`, int32 [D], are the
        flags of all decoded code points.

        The comments show the values of `x p q y q` without its blanks. p and q
        are marks of the classes 226 and 224, so that q stands before p.
        """
        marks, classes = self._tables.combining_classes
        # [1 2 4], where a mark may be
        candidates = ragged.true_indices(
            (chars.flags & unicode_tables.REORDERED) > 0
        )
        code_points = tf.gather(chars.code_points, candidates)
        # Where each candidate is in `marks`, if it is a mark.
        index = tf.minimum(tf.searchsorted(marks, code_points), len(marks) - 1)
        is_mark = ragged.true_indices(tf.gather(marks, index) == code_points)
        # [1 2 4], where a mark is
        targets = tf.gather(candidates, is_mark)
        is_starter = (decoded_flags & unicode_tables.STARTER) > 0
        # [1 1 1 2 2], the number of each character's base, and [1 1 2] of marks
        runs = tf.cumsum(tf.cast(is_starter, tf.int32))
        runs = tf.gather(runs, tf.gather(chars.source, targets))
        # [1 0 2], because of the keys 256 + 226, 256 + 224 and 512 + 224
        order = tf.argsort(
            tf.cast(runs, tf.int64) * 256
            + tf.cast(tf.gather(classes, tf.gather(index, is_mark)), tf.int64),
            stable=True,
        )
        # [2 1 4]: q moves from 2 to 1, and p from 1 to 2.
        sources = tf.gather(targets, order)
        return _Normalized(
            *(
                tf.tensor_scatter_nd_update(
                    value, targets[:, None], tf.gather(value, sources)
                )
                for value in chars
            )
        )


def _lower_sigmas(chars: _Normalized) -> _Normalized:
    """Lower-cases Greek capital sigmas as `str.lower` does.

    A sigma becomes a final sigma if the character before it is a cased letter
    and the character after it is not. Case-ignorable characters around the
    sigma are skipped, including all characters that cleaning drops.
    """
    counted = ragged.true_indices(
        (chars.flags & unicode_tables.CASE_IGNORABLE) == 0
    )
    is_cased = (chars.flags & unicode_tables.CASED) > 0
    sigmas = ragged.true_indices(
        chars.code_points == unicode_tables.CAPITAL_SIGMA
    )
    rank = tf.searchsorted(counted, sigmas)
    after = (rank > 0) & tf.gather(
        is_cased, tf.gather(counted, tf.maximum(rank - 1, 0))
    )
    # A line end follows each text, so `rank + 1` is always a valid index.
    before = tf.gather(is_cased, tf.gather(counted, rank + 1))
    lowered = tf.where(after & ~before, ord("\u03c2"), ord("\u03c3"))
    return chars._replace(
        code_points=tf.tensor_scatter_nd_update(
            chars.code_points, sigmas[:, None], lowered
        )
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
