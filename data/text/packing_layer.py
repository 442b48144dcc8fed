"""Packs texts as model inputs inside a TensorFlow graph.

N = number of texts, F = length of a model input in WordPieces.
"""

from typing import Any

import keras
import tensorflow as tf

from data.text.ragged import row_ids, rows, with_row_splits
from data.text.tokenizer_layer import TokenizerLayer


@keras.saving.register_keras_serializable("bert")
class PackingLayer(keras.layers.Layer):
    """Tokenizes texts, or pairs of texts, and packs them as model inputs.

    run_classifier.py packs texts in the same way. The WordPieces and segments
    of a pair:

        [CLS] who moore ##d the tug ? [SEP] the pilot did . [SEP]
          0    0   0    0    0   0  0   0    1    1    1  1   1

    Args:
        tokenizer: a TokenizerLayer, such as `FullTokenizer.layer`.
        max_seq_length: F, length of an input. If an input is longer, WordPieces
            are removed from the end of its longer text.
        **kwargs: arguments of keras.layers.Layer.

    Call arguments:
        text_a: string [N].
        text_b: string [N], the second texts. None if there are only single
            texts. If the second text of a pair contains no WordPiece, the first
            text is packed as a single text.

    Returns:
        dict of int32 [N, F]: input_ids, input_mask, segment_ids.

    Raises:
        ValueError: `max_seq_length` is less than 3.
    """

    def __init__(
        self, tokenizer: TokenizerLayer, max_seq_length: int, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if max_seq_length < 3:
            raise ValueError(
                "max_seq_length must be at least 3, for [CLS] and two [SEP]. "
                f"Received: {max_seq_length}"
            )
        self.max_seq_length = max_seq_length
        self.tokenizer = tokenizer
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's configuration, from which Keras recreates it."""
        return {
            **super().get_config(),
            "vocab": self.tokenizer.vocab,
            "max_seq_length": self.max_seq_length,
            "do_lower_case": self.tokenizer.do_lower_case,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "PackingLayer":
        """Creates a layer from the result of `get_config`."""
        config = dict(config)
        vocab, do_lower_case = config.pop("vocab"), config.pop("do_lower_case")
        return cls(TokenizerLayer(vocab, do_lower_case), **config)

    def call(
        self, text_a: tf.Tensor, text_b: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """Tokenizes and packs texts as model inputs, dict of int32 [N, F]."""
        return self.pack(*self.tokenize(text_a, text_b))

    def tokenize(
        self, text_a: tf.Tensor, text_b: tf.Tensor | None = None
    ) -> tuple[tf.RaggedTensor, ...]:
        """Returns the texts' WordPiece ids, the arguments of `pack`.

        Returns one ragged int32 [N, None] for single texts, and two for pairs.
        """
        if text_b is None:
            return (self.tokenizer(text_a),)
        # `stack` raises an error if the numbers of texts differ.
        texts = tf.reshape(tf.stack([text_a, text_b]), [-1])
        tokens = self.tokenizer(texts)
        count = tf.shape(text_a)[0]
        return rows(tokens, 0, count), rows(tokens, count, 2 * count)

    def pack(
        self, tokens_a: tf.RaggedTensor, tokens_b: tf.RaggedTensor | None = None
    ) -> dict[str, tf.Tensor]:
        """Packs WordPiece ids, which `tokenize` returned, as model inputs."""
        ids, lengths_a = self.join(tokens_a, tokens_b)
        return pad(ids, lengths_a + 2, self.max_seq_length)

    def join(
        self, tokens_a: tf.RaggedTensor, tokens_b: tf.RaggedTensor | None = None
    ) -> tuple[tf.RaggedTensor, tf.Tensor]:
        """Cuts texts to the input length, and inserts [CLS] and [SEP].

        Args:
            tokens_a: ragged int32 [N, None], WordPiece ids of the first texts.
            tokens_b: ragged int32 [N, None], WordPiece ids of the second texts.
                None for single texts.

        Returns:
            (ids, lengths_a). `ids`, ragged int32 [N, None], contains at most F
            ids in each row, including [CLS] and [SEP]. `lengths_a`, int64 [N],
            is the number of WordPieces that remain of each first text.
        """
        if tokens_b is None:
            tokens_b = with_row_splits(
                tokens_a.flat_values[:0], tf.zeros_like(tokens_a.row_splits)
            )
        lengths_a, lengths_b = tokens_a.row_lengths(), tokens_b.row_lengths()
        is_pair = tf.cast(lengths_b > 0, tf.int64)
        # Cut the longer text first. When both texts are equally long, cut the
        # second text, as run_classifier.py does.
        room = self.max_seq_length - 2 - is_pair
        lengths_a = tf.minimum(
            lengths_a, room - tf.minimum(lengths_b, room // 2)
        )
        lengths_b = tf.minimum(lengths_b, room - lengths_a)
        # The length of an input includes [CLS], the first text and [SEP], and
        # in a pair also the second text and its [SEP].
        lengths = lengths_a + lengths_b + 2 + is_pair
        row_splits = tf.cumsum(tf.concat([[0], lengths], 0))
        number = row_splits[-1]
        row = row_ids(row_splits, number)
        place = tf.range(number) - tf.gather(row_splits, row)
        place_b = place - tf.gather(lengths_a, row) - 2
        special = [self.tokenizer.id_of(name) for name in ("[CLS]", "[SEP]")]
        values = [special, tokens_a.flat_values, tokens_b.flat_values]
        starts_a = tokens_a.row_starts() + len(special)
        starts_b = tokens_b.row_starts() + len(special)
        starts_b += tf.size(tokens_a.flat_values, tf.int64)
        # For each id of the result, compute the index in `values` to copy from.
        source = tf.where(
            place_b < 0,
            tf.gather(starts_a, row) + place - 1,
            tf.gather(starts_b, row) + place_b,
        )
        is_special = (
            (place == 0)
            | (place_b == -1)
            | (place_b == tf.gather(lengths_b, row))
        )
        source = tf.where(is_special, tf.cast(place > 0, tf.int64), source)
        ids = tf.gather(tf.concat(values, 0), source)
        return with_row_splits(ids, row_splits), lengths_a


def pad(
    ids: tf.RaggedTensor, first_lengths: tf.Tensor, max_seq_length: int
) -> dict[str, tf.Tensor]:
    """Pads packed ids to the inputs of a model.

    Args:
        ids: ragged int32 [N, None], the ids of each input, with [CLS] and
            [SEP].
        first_lengths: int64 [N], position at which segment 1 begins.
        max_seq_length: F, length of the padded inputs.

    Returns:
        dict of int32 [N, F]: input_ids, input_mask, segment_ids.
    """
    positions = tf.range(max_seq_length, dtype=tf.int64)
    is_real = positions < ids.row_lengths()[:, None]
    is_second = is_real & (positions >= first_lengths[:, None])
    return {
        "input_ids": ids.to_tensor(shape=[None, max_seq_length]),
        "input_mask": tf.cast(is_real, tf.int32),
        "segment_ids": tf.cast(is_second, tf.int32),
    }
