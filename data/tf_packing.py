"""Texts to a model's inputs inside a graph, as run_classifier.py packs them.

N = texts, F = length of an input, P = WordPieces of all texts together.
"""

import keras
import tensorflow as tf

from data.tf_tokenization import TokenizerLayer


@keras.saving.register_keras_serializable("bert")
class PackingLayer(keras.layers.Layer):
    """Tokenizes and packs one or two texts as run_classifier.py does.

        [CLS] is this jack ##son ##ville ? [SEP] no it is not . [SEP]
          0   0   0    0    0     0      0   0   1  1  1  1   1   1

    Args:
        vocab: see `TokenizerLayer`.
        max_seq_length: F; longer inputs lose WordPieces from the end of the
            longer text.
        do_lower_case: see `TokenizerLayer`.
        **kwargs: see keras.layers.Layer.

    Call arguments:
        text_a: string [N].
        text_b: string [N], or None.

    Returns:
        dict of int32 [N, F]: input_ids, input_mask, segment_ids.

    Raises:
        ValueError: `max_seq_length` leaves no place for WordPieces.
    """

    def __init__(self, vocab, max_seq_length, do_lower_case=True, **kwargs):
        super().__init__(**kwargs)
        if max_seq_length < 5:
            raise ValueError(
                "max_seq_length must be 5 or more, for [CLS], two [SEP] and "
                f"two WordPieces. Received: {max_seq_length}"
            )
        self.max_seq_length = max_seq_length
        self.tokenizer = TokenizerLayer(vocab, do_lower_case)
        self.built = True

    def get_config(self):
        """Returns what the layer is made from."""
        return {
            **super().get_config(),
            "vocab": self.tokenizer.vocab,
            "max_seq_length": self.max_seq_length,
            "do_lower_case": self.tokenizer.do_lower_case,
        }

    def call(self, text_a, text_b=None):
        """Returns the inputs of the model."""
        tokens_a = self.tokenizer(text_a)
        lengths_a = tokens_a.row_lengths()
        if text_b is None:
            tokens_a = tokens_a[:, : self.max_seq_length - 2]
            ids = self._join(tokens_a)
            segment_ids = tf.zeros_like(ids)
        else:
            tokens_b = self.tokenizer(text_b)
            # The longer one gives way first, the second where they are equal.
            room = self.max_seq_length - 3
            lengths_a = tf.minimum(
                lengths_a,
                tf.maximum(room - tokens_b.row_lengths(), (room + 1) // 2),
            )
            tokens_a = _first(tokens_a, lengths_a)
            tokens_b = _first(tokens_b, room - lengths_a)
            ids = self._join(tokens_a, tokens_b)
            positions = tf.range(self.max_seq_length, dtype=tf.int64)
            segment_ids = tf.cast(
                (positions >= lengths_a[:, None] + 2)
                & (positions < ids.row_lengths()[:, None]),
                tf.int32,
            )
        return {
            "input_ids": self._pad(ids),
            "input_mask": self._pad(tf.ones_like(ids)),
            "segment_ids": self._pad(segment_ids),
        }

    def _join(self, *segments):
        """Puts [CLS] before the segments, and [SEP] after each."""
        vocab = self.tokenizer.vocab
        count = segments[0].nrows()
        parts = [tf.fill([count, 1], vocab.index("[CLS]"))]
        for segment in segments:
            parts += [segment, tf.fill([count, 1], vocab.index("[SEP]"))]
        return tf.concat(parts, 1)

    def _pad(self, values):
        if not isinstance(values, tf.RaggedTensor):
            return values
        return values.to_tensor(shape=[None, self.max_seq_length])


def _first(tokens, lengths):
    """The first tokens of each row, at most `lengths` of them."""
    return tf.RaggedTensor.from_row_lengths(
        tf.boolean_mask(
            tokens.flat_values,
            _positions(tokens) < tf.gather(lengths, tokens.value_rowids()),
        ),
        tf.minimum(tokens.row_lengths(), lengths),
    )


def _positions(tokens):
    """The position of each token in its row, int64 [P]."""
    return tf.ragged.range(tokens.row_lengths()).flat_values
