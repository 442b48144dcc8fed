"""The tokenizer inside a graph: a Keras layer over string tensors.

It returns what `FullTokenizer` returns, on any text, with no Python at call
time, so that a served model tokenizes as its training did. TensorFlow Text's
own BertTokenizer does not. All operations are TensorFlow's own: a saved graph
runs wherever TensorFlow does, `saved_model_cli` included.

Memory grows with the bytes of the texts, under 100 bytes for each, however
long their words are.

N = texts, D = code points as decoded, C = those left after normalization, W =
words, P = WordPieces, of all texts together.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from data.text import ragged, unicode_tables
from data.text.wordpiece_layer import WordpieceTable

_CAPITAL_SIGMA = 0x3A3
_FINAL_SIGMA = 0x3C2


class Characters(NamedTuple):
    """The normalized characters of all texts, without white space.

    Attributes:
        cps: int32 [C], code points.
        begins: bool [C], whether it begins a word of `BasicTokenizer`.
        source: int32 [C], the code point [D] that it came from.
        row_splits: int32 [N + 1], the first character of each text.
        starts: int32 [D], where each code point starts in its text, in bytes.
    """

    cps: tf.Tensor
    begins: tf.Tensor
    source: tf.Tensor
    row_splits: tf.Tensor
    starts: tf.Tensor


class _Normalized(NamedTuple):
    """Normalized code points, white space among them; K of them.

    Attributes:
        cps: int32 [K].
        flags: int32 [K], of unicode_tables.
        source: int32 [K], the code point [D] that each came from.
    """

    cps: tf.Tensor
    flags: tf.Tensor
    source: tf.Tensor

    def gather(self, indexes: tf.Tensor) -> "_Normalized":
        """Selects code points by index."""
        return _Normalized(*(tf.gather(value, indexes) for value in self))


@keras.saving.register_keras_serializable("bert")
class TokenizerLayer(keras.layers.Layer):
    """Tokenizes texts to WordPiece ids as `FullTokenizer` does.

    `FullTokenizer.layer` creates it, once.

    Args:
        vocab: the WordPieces in the order of their ids.
        do_lower_case: whether to lower-case the text and strip accents.
        **kwargs: see keras.layers.Layer.

    Call arguments:
        texts: string [N], UTF-8; bytes that are not UTF-8 are dropped.

    Returns:
        ragged int32 [N, None], the ids, without [CLS] and [SEP].

    Raises:
        ValueError: the vocabulary lacks [UNK].
    """

    def __init__(
        self, vocab: Sequence[str], do_lower_case: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        # Keras would track each element of a list.
        self._vocab = np.array(vocab, object)
        self.do_lower_case = do_lower_case
        self._tables = unicode_tables.create_tables(do_lower_case)
        self._table = WordpieceTable(self.vocab)
        # One graph for all that tokenize with this layer.
        self._graph = tf.function(
            self._tokenize, [tf.TensorSpec([None], tf.string)], autograph=False
        )
        self.built = True  # no weights

    @property
    def vocab(self) -> list[str]:
        """The WordPieces in the order of their ids."""
        return self._vocab.tolist()

    def id_of(self, token: str) -> int:
        """Returns the id of a WordPiece; ValueError if there is none."""
        return len(self.vocab) - 1 - self.vocab[::-1].index(token)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {
            **super().get_config(),
            "vocab": self.vocab,
            "do_lower_case": self.do_lower_case,
        }

    def call(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Returns the ids of the texts."""
        return self.tokenize_with_chars(texts)[0]

    def tokenize_with_chars(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.Tensor, tf.Tensor, Characters]:
        """Tokenizes texts, string [N], and returns their characters too.

        Returns:
            (ids, first, last, chars): ragged int32 [N, None]; int32 [P], the
            first and the last character of each WordPiece; Characters.
        """
        # Any shape, as `keras.Input((1,))` has, is taken as a list.
        return self._graph(tf.reshape(texts, [-1]))

    def _tokenize(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.Tensor, tf.Tensor, Characters]:
        chars = self._split_words(texts)
        word_starts = tf.cast(tf.where(chars.begins)[:, 0], tf.int32)
        ids, first, last = self._table.split(chars.cps, word_starts)
        row_splits = tf.searchsorted(first, chars.row_splits)
        return ragged.with_row_splits(ids, row_splits), first, last, chars

    def _split_words(self, texts: tf.Tensor) -> Characters:
        """Returns the Characters of texts."""
        # White space ends each text, so that words and marks end there too.
        row_splits, decoded, starts = tf.raw_ops.UnicodeDecodeWithOffsets(
            input=tf.strings.join([texts, "\n"]),
            input_encoding="UTF-8",
            errors="replace",
        )
        row_splits = tf.cast(row_splits, tf.int32)
        starts = tf.cast(starts, tf.int32)
        chars = self._normalize(decoded)
        # Words end at white space and around isolated characters.
        is_space = (chars.flags & unicode_tables.SPACE) > 0
        is_border = is_space | ((chars.flags & unicode_tables.ISOLATED) > 0)
        begins = is_border | tf.concat([[True], is_border], 0)[:-1]
        kept = ragged.where(~is_space)
        chars = chars.gather(kept)
        return Characters(
            cps=chars.cps,
            begins=tf.gather(begins, kept),
            source=chars.source,
            # Marks are reordered only within their text.
            row_splits=tf.searchsorted(chars.source, row_splits),
            starts=starts,
        )

    def _normalize(self, decoded: tf.Tensor) -> _Normalized:
        """Cleans, lower-cases and strips accents as `BasicTokenizer` does.

        `decoded` are int32 [D].
        """
        flags, values = self._tables.lookup(decoded, tf.gather)
        cps = decoded + values
        if self.do_lower_case:
            cps = tf.cond(
                tf.reduce_any(decoded == _CAPITAL_SIGMA),
                lambda: _lower_final_sigmas(decoded, cps, flags),
                lambda: cps,
            )
        source = ragged.where((flags & unicode_tables.DROPPED) == 0)
        chars = _Normalized(
            tf.gather(cps, source), tf.gather(flags, source), source
        )
        if not self.do_lower_case:
            return chars
        chars = tf.cond(
            tf.reduce_any((flags & unicode_tables.SEVERAL) > 0),
            lambda: _expand(chars, values, self._tables.several),
            lambda: chars,
        )
        moved = (chars.flags & unicode_tables.REORDERED) > 0
        return tf.cond(
            tf.math.count_nonzero(moved) > 1,
            lambda: self._reorder(chars, moved, flags),
            lambda: chars,
        )

    def _reorder(
        self, chars: _Normalized, moved: tf.Tensor, decoded_flags: tf.Tensor
    ) -> _Normalized:
        """Sorts marks into the canonical order of their combining classes.

        They stay between the same starters.

        Args:
            chars: _Normalized.
            moved: bool [K], whether it may be reordered.
            decoded_flags: int32 [D], the flags of all code points.
        """
        marks, classes = self._tables.combining_classes
        places = ragged.where(moved)
        sought = tf.gather(chars.cps, places)
        index = tf.minimum(tf.searchsorted(marks, sought), len(marks) - 1)
        is_mark = ragged.where(tf.gather(marks, index) == sought)
        places = tf.gather(places, is_mark)
        is_starter = (decoded_flags & unicode_tables.STARTER) > 0
        runs = tf.cumsum(tf.cast(is_starter, tf.int32))
        runs = tf.gather(runs, tf.gather(chars.source, places))
        order = tf.argsort(
            tf.cast(runs, tf.int64) * 256
            + tf.cast(tf.gather(classes, tf.gather(index, is_mark)), tf.int64),
            stable=True,
        )
        sources = tf.gather(places, order)
        return _Normalized(
            *(
                tf.tensor_scatter_nd_update(
                    value, places[:, None], tf.gather(value, sources)
                )
                for value in chars
            )
        )


def _expand(
    chars: _Normalized, values: tf.Tensor, several: tf.Tensor
) -> _Normalized:
    """Expands characters that become several code points.

    Args:
        chars: _Normalized.
        values: int32 [D], the row of `several` for such a character.
        several: int32 [rows, 3], the code points, padded with -1.
    """
    cps, flags, source = chars
    places = ragged.where((flags & unicode_tables.SEVERAL) > 0)
    rows = tf.gather(several, tf.gather(values, tf.gather(source, places)))
    num_added = tf.math.count_nonzero(rows >= 0, axis=1, dtype=tf.int32) - 1
    added = tf.scatter_nd(places[:, None], num_added, tf.shape(cps))
    ends = tf.cumsum(added + 1)
    origin = ragged.row_ids(
        tf.concat([[0], ends], 0), tf.size(cps) + tf.reduce_sum(num_added)
    )
    # Where the code points of each row go.
    first = tf.gather(ends, places) - num_added - 1
    where = tf.boolean_mask(first[:, None] + tf.range(3), rows >= 0)
    chars = chars.gather(origin)
    cps = tf.tensor_scatter_nd_update(
        chars.cps, where[:, None], tf.boolean_mask(rows, rows >= 0)
    )
    return chars._replace(cps=cps)


def _lower_final_sigmas(
    decoded: tf.Tensor, cps: tf.Tensor, flags: tf.Tensor
) -> tf.Tensor:
    """Replaces capital sigmas that end a word, as `str.lower` does.

    Such a sigma follows a cased letter and does not precede one; case ignorable
    characters are skipped.

    Args:
        decoded: int32 [D].
        cps: int32 [D], their lower case, where no sigma is final.
        flags: int32 [D].

    Returns:
        int32 [D], `cps` with final sigmas.
    """
    counted = ragged.where((flags & unicode_tables.CASE_IGNORABLE) == 0)
    is_cased = (flags & unicode_tables.CASED) > 0
    sigmas = ragged.where(decoded == _CAPITAL_SIGMA)
    at = tf.searchsorted(counted, sigmas)
    after = (at > 0) & tf.gather(
        is_cased, tf.gather(counted, tf.maximum(at - 1, 0))
    )
    # White space ends each text, so that a next code point exists.
    before = tf.gather(is_cased, tf.gather(counted, at + 1))
    final = tf.boolean_mask(sigmas, after & ~before)
    return tf.tensor_scatter_nd_update(
        cps, final[:, None], tf.fill([tf.size(final)], _FINAL_SIGMA)
    )


def utf8_length(cps: tf.Tensor) -> tf.Tensor:
    """Returns the number of bytes of code points in UTF-8, int8."""
    return 1 + sum(
        tf.cast(cps >= least, tf.int8) for least in (0x80, 0x800, 0x10000)
    )


def drop_invalid(texts: tf.Tensor) -> tf.Tensor:
    """Drops the bytes of texts, string [...], that are not UTF-8."""
    return tf.strings.unicode_transcode(
        texts, "UTF-8", "UTF-8", errors="ignore"
    )
