"""Packs texts as model inputs inside a graph, as run_classifier.py does.

N = texts, F = input length, P = WordPieces of all texts together.
"""

import os
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from data.text.ragged import first_values
from data.text.tokenizer_layer import TokenizerLayer


@keras.saving.register_keras_serializable("bert")
class PackingLayer(keras.layers.Layer):
    """Tokenizes and packs one or two texts as run_classifier.py does.

        [CLS] who moore ##d the tug ? [SEP] the pilot did . [SEP]
          0    0   0    0    0   0  0   0    1    1    1  1   1

    Args:
        vocab: see `TokenizerLayer`.
        max_seq_length: F; longer inputs lose WordPieces from the end of the
            longer text.
        do_lower_case: see `TokenizerLayer`.
        **kwargs: see keras.layers.Layer.

    Call arguments:
        text_a: string [N].
        text_b: string [N]; a text without WordPieces counts as none. None for
            single texts.

    Returns:
        dict of int32 [N, F]: input_ids, input_mask, segment_ids.

    Raises:
        ValueError: `max_seq_length` leaves no room for WordPieces.
    """

    def __init__(
        self,
        vocab: str | os.PathLike[str] | Sequence[str],
        max_seq_length: int,
        do_lower_case: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if max_seq_length < 3:
            raise ValueError(
                "max_seq_length must be 3 or more, for [CLS] and two [SEP]. "
                f"Received: {max_seq_length}"
            )
        self.max_seq_length = max_seq_length
        self.tokenizer = TokenizerLayer(vocab, do_lower_case)
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {
            **super().get_config(),
            "vocab": self.tokenizer.vocab,
            "max_seq_length": self.max_seq_length,
            "do_lower_case": self.tokenizer.do_lower_case,
        }

    def call(
        self, text_a: tf.Tensor, text_b: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """Returns the inputs of the model."""
        return self.pack(*self.tokenize(text_a, text_b))

    def tokenize(
        self, text_a: tf.Tensor, text_b: tf.Tensor | None = None
    ) -> tuple[tf.RaggedTensor, ...]:
        """Returns the ids of each text, ragged int32 [N, None], for `pack`."""
        if text_b is None:
            return (self.tokenizer(text_a),)
        # One call for both halves the graph.
        tokens = self.tokenizer(tf.concat([text_a, text_b], 0))
        count = tf.shape(text_a)[0]
        return tokens[:count], tokens[count:]

    def pack(
        self,
        tokens_a: tf.RaggedTensor,
        tokens_b: tf.RaggedTensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """Packs the ids of texts; see `call`."""
        ids, lengths_a = self.join(tokens_a, tokens_b)
        positions = tf.range(self.max_seq_length, dtype=tf.int64)
        is_second = (positions >= lengths_a[:, None] + 2) & (
            positions < ids.row_lengths()[:, None]
        )
        return {
            "input_ids": self._pad(ids),
            "input_mask": self._pad(tf.ones_like(ids)),
            "segment_ids": tf.cast(is_second, tf.int32),
        }

    def join(
        self,
        tokens_a: tf.RaggedTensor,
        tokens_b: tf.RaggedTensor | None = None,
    ) -> tuple[tf.RaggedTensor, tf.Tensor]:
        """Cuts the ids of texts and puts special tokens around them.

        Args:
            tokens_a: ragged int32 [N, None].
            tokens_b: ragged int32 [N, None]; None for single texts.

        Returns:
            (ids, lengths_a): ragged int32 [N, None], with [CLS] and [SEP], at
            most F each; int64 [N], WordPieces of the first text among them.
        """
        lengths_a = tokens_a.row_lengths()
        if tokens_b is None:
            tokens_b = tf.zeros_like(tokens_a)[:, :0]
        is_pair = tokens_b.row_lengths() > 0
        # The longer one is cut first; the second in a tie.
        room = self.max_seq_length - 2 - tf.cast(is_pair, tf.int64)
        lengths_a = tf.minimum(
            lengths_a,
            tf.where(
                is_pair,
                tf.maximum(room - tokens_b.row_lengths(), (room + 1) // 2),
                room,
            ),
        )
        ids = self._join(
            first_values(tokens_a, lengths_a),
            first_values(tokens_b, room - lengths_a),
            is_pair,
        )
        return ids, lengths_a

    def _join(
        self,
        tokens_a: tf.RaggedTensor,
        tokens_b: tf.RaggedTensor,
        is_pair: tf.Tensor,
    ) -> tf.RaggedTensor:
        """Puts [CLS] before the texts, and [SEP] after each one."""
        vocab = self.tokenizer.vocab
        cls = tf.fill([tf.size(is_pair), 1], vocab.index("[CLS]"))
        sep = tf.fill([tf.size(is_pair), 1], vocab.index("[SEP]"))
        last_sep = tf.RaggedTensor.from_tensor(
            sep, lengths=tf.cast(is_pair, tf.int64)
        )
        return tf.concat([cls, tokens_a, sep, tokens_b, last_sep], 1)

    def _pad(self, values: tf.RaggedTensor) -> tf.Tensor:
        return values.to_tensor(shape=[None, self.max_seq_length])
