"""Packs texts or pairs of texts as model inputs inside a graph.

The module repeats token_windows.py, to which tests/data/text/ compares it:
`PackingLayer` equals `join_tokens` and then `pad_input`. token_windows_graph.py
uses the functions at the end too.

N = number of texts, T = length of a model input in WordPieces.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from data.text.ragged import with_row_splits
from data.text.tokenizer_layer import TokenizerLayer

# How a pair that is too long is cut.
Truncation: TypeAlias = Literal["round_robin", "waterfall"]


class JoinedTexts(NamedTuple):
    """N texts or pairs with [CLS] and [SEP], cut to the input length T.

    Attributes:
        ids: ragged int32 [N, None], at most T WordPiece ids in each row.
        lengths_a: int64 [N], number of WordPieces that remain of each first
            text.
    """

    ids: tf.RaggedTensor
    lengths_a: tf.Tensor


class PackingLayer(keras.layers.Layer):
    """Tokenizes texts, or pairs of texts, and packs them as model inputs.

    run_classifier.py packs texts in the same way. The WordPieces and segments
    of a pair:

        [CLS] who moore ##d the tug ? [SEP] the pilot did . [SEP]
          0    0   0    0    0   0  0   0    1    1    1  1   1

    Args:
        tokenizer: layer that tokenizes, such as `FullTokenizer.layer`.
        max_seq_length: T, length of a model input, at least 3. If a text or
            pair is longer, WordPieces are removed from the end of the longer
            text.
        truncate: "round_robin" cuts the longer text of a pair first, as
            run_classifier.py does, "waterfall" the second text.
        **kwargs: arguments of keras.layers.Layer.

    Call arguments:
        text_a: string [N].
        text_b: string [N], the second text of each pair, None for single texts.
            If the second text of a pair contains no WordPiece, the first text
            is packed as a single text.

    Returns:
        dict of int32 [N, T]: input_ids, input_mask, segment_ids.

    Raises:
        ValueError: `truncate` or `max_seq_length` has another value.
    """

    def __init__(
        self,
        tokenizer: TokenizerLayer,
        max_seq_length: int,
        truncate: Truncation = "round_robin",
        **kwargs: Any,  # of keras.layers.Layer
    ) -> None:
        super().__init__(**kwargs)
        if truncate not in ("round_robin", "waterfall"):
            raise ValueError(
                "truncate must be 'round_robin' or 'waterfall'; received "
                f"{truncate!r}"
            )
        is_whole = isinstance(max_seq_length, (int, np.integer))
        if not is_whole or max_seq_length < 3:
            raise ValueError(
                "the length of a model input must be a whole number from 3, "
                "for [CLS], a WordPiece and [SEP]; received "
                f"{max_seq_length!r}"
            )
        self.truncate = truncate
        self.max_seq_length = int(max_seq_length)
        self.tokenizer = tokenizer
        self.built = True

    def call(
        self, text_a: tf.Tensor, text_b: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """Tokenizes and packs texts as model inputs, dict of int32 [N, T]."""
        return self.pack(*self.tokenize(text_a, text_b))

    def tokenize(
        self, text_a: tf.Tensor, text_b: tf.Tensor | None = None
    ) -> tuple[tf.RaggedTensor, ...]:
        """Returns the WordPiece ids of texts, to pass to `pack`.

        Returns one ragged int32 [N, None] for single texts, and two for pairs.
        """
        # Not Keras's `__call__`, which would convert the strings to tensors of
        # its backend, also in tf.data.
        tokenize = self.tokenizer.call
        if text_b is None:
            return (tokenize(text_a),)
        # `stack` raises an error if the lengths of text_a and text_b differ.
        texts = tf.reshape(tf.stack([text_a, text_b]), [-1])
        tokens = tokenize(texts)
        num_texts = tf.shape(text_a)[0]
        return tokens[:num_texts], tokens[num_texts:]

    def pack(
        self, tokens_a: tf.RaggedTensor, tokens_b: tf.RaggedTensor | None = None
    ) -> dict[str, tf.Tensor]:
        """Packs the WordPiece ids that `tokenize` returned as model inputs."""
        joined = self.join(tokens_a, tokens_b)
        first_lengths = joined.lengths_a + 2
        return pad_ids(joined.ids, first_lengths, self.max_seq_length)

    def join(
        self, tokens_a: tf.RaggedTensor, tokens_b: tf.RaggedTensor | None = None
    ) -> JoinedTexts:
        """Cuts texts to the input length, and inserts [CLS] and [SEP].

        Args:
            tokens_a: ragged int32 [N, None], WordPiece ids of the first texts.
            tokens_b: ragged int32 [N, None], WordPiece ids of the second texts.
                None for single texts.
        """
        lengths_a = tokens_a.row_lengths()
        lengths_b = tf.zeros_like(lengths_a)
        if tokens_b is not None:
            lengths_b = tokens_b.row_lengths()
        is_pair = tf.cast(lengths_b > 0, tf.int64)
        # Cut the longer text of a pair first. If both texts are equally long,
        # cut the second text, as run_classifier.py does.
        room = self.max_seq_length - 2 - is_pair
        least_b = tf.minimum(lengths_b, room // 2)
        if self.truncate == "waterfall":
            least_b = tf.zeros_like(lengths_b)
        lengths_a = tf.minimum(lengths_a, room - least_b)
        parts = [cut_ranges(tokens_a, tokens_a.row_starts(), lengths_a)]
        if tokens_b is not None:
            lengths_b = tf.minimum(lengths_b, room - lengths_a)
            parts.append(cut_ranges(tokens_b, tokens_b.row_starts(), lengths_b))
        ids = join_parts(self.tokenizer, parts, is_pair)
        return JoinedTexts(ids, lengths_a)


def join_parts(
    tokenizer: TokenizerLayer,
    parts: Sequence[tf.RaggedTensor],
    ends_second: tf.Tensor | int = 1,
) -> tf.RaggedTensor:
    """Joins the one or two parts of each input, `[CLS] part [SEP] part [SEP]`.

    For example, the pair of "a b" and "c", and the single text "d", whose
    second part is empty. So `ends_second` is [1, 0]:

        values        [CLS] [SEP] a b d c    the texts, part by part
        first         0 2   1 5 1      0 4 1 6 1
        part_lengths  1 2   1 1 1      1 1 1 0 0
        indices       0 2 3 1 5 1      0 4 1
        result        [CLS] a b [SEP] c [SEP]    [CLS] d [SEP]

    The first input is `values` at 0, 2 to 3 ("a b"), 1, 5 ("c") and 1.

    Args:
        tokenizer: contains the ids of [CLS] and [SEP].
        parts: the first parts of all inputs, and if there are any, the second
            ones, ragged int32 [N, None] each.
        ends_second: int64 [N], 0 where the last [SEP] is missing, else 1.

    Returns:
        ids of the inputs, ragged int32 [N, None].
    """
    # One tf.gather is traced three times as fast as a tf.concat of ragged
    # tensors.
    special = [tokenizer.id_of(name) for name in ("[CLS]", "[SEP]")]
    values = tf.concat([special, *(part.flat_values for part in parts)], 0)
    ones = tf.ones_like(parts[0].row_lengths())
    # `values` begins with [CLS] and [SEP], which an input contains at 0 and 1.
    starts = [0 * ones]
    lengths = [ones]
    part_start = tf.constant(2, tf.int64)
    # Of each part, of which there are one or two, the number of [SEP] after it.
    num_seps = [ones, ones * ends_second][: len(parts)]
    for part, num_ends in zip(parts, num_seps, strict=True):
        starts += [part.row_starts() + part_start, ones]
        lengths += [part.row_lengths(), num_ends]
        part_start += tf.size(part.flat_values, tf.int64)
    first = tf.reshape(tf.stack(starts, 1), [-1])
    part_lengths = tf.stack(lengths, 1)
    indices = tf.ragged.range(first, first + tf.reshape(part_lengths, [-1]))
    ends = tf.cumsum(tf.reduce_sum(part_lengths, 1))
    return with_row_splits(
        tf.gather(values, indices.flat_values), tf.concat([[0], ends], 0)
    )


def cut_ranges(
    tokens: tf.RaggedTensor, starts: tf.Tensor, lengths: tf.Tensor
) -> tf.RaggedTensor:
    """Cuts ranges of WordPiece ids out of texts.

    Args:
        tokens: WordPiece ids of the texts, ragged int32 [N, None].
        starts: int64, the index of each range's first WordPiece among those of
            all texts.
        lengths: int64, the number of WordPieces of each range.

    Returns:
        the WordPiece ids of the ranges, ragged int32 [number of ranges, None].
    """
    indices = tf.ragged.range(starts, starts + lengths)
    return indices.with_flat_values(
        tf.gather(tokens.flat_values, indices.flat_values)
    )


def pad_ids(
    ids: tf.RaggedTensor, first_lengths: tf.Tensor, max_seq_length: int
) -> dict[str, tf.Tensor]:
    """Pads the ids of inputs, and creates their masks and segment ids.

    Args:
        ids: ids of the inputs, ragged int32 [N, None].
        first_lengths: int64 [N], the number of ids in segment 0.
        max_seq_length: T, the length to which the inputs are padded.

    Returns:
        dict of int32 [N, T]: input_ids, input_mask, segment_ids.
    """
    positions = tf.range(max_seq_length, dtype=tf.int64)
    is_real = positions < ids.row_lengths()[:, None]
    is_second = is_real & (positions >= first_lengths[:, None])
    return {
        "input_ids": ids.to_tensor(shape=[None, max_seq_length]),
        "input_mask": tf.cast(is_real, tf.int32),
        "segment_ids": tf.cast(is_second, tf.int32),
    }
