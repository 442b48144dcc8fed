"""The signatures `ids` and `tokenize`, which exports of all kinds can have.

`ids` only runs the network, and is in all formats. `tokenize` returns the
WordPieces of a text, in a SavedModel that accepts text.

B = number of inputs, T = length of an input of the network, with padding, in
WordPieces. N = number of texts or pairs of texts, M = length of the longest of
them in WordPieces.
"""

from collections.abc import Mapping

import tensorflow as tf

from data.text.packing_graph import PackingLayer
from exporting.batching_graph import assert_true, to_padded
from exporting.signatures import (
    PredictFeatures,
    Signature,
    Tensors,
    text_inputs,
)
from modeling import ops
from modeling.base_model import BaseModel


def create_ids_signature(
    predict: PredictFeatures, model: BaseModel
) -> Signature:
    """Creates the signature `ids`, which accepts WordPiece ids.

    Its inputs are `input_ids`, `input_mask` and `segment_ids`, as in Google's
    BERT, int32 [B, T], or [B, C, T] for C choices. In a SavedModel, the
    signature fails on ids outside the model's range. In LiteRT, it does not
    check ids, and invalid ids read arbitrary embeddings.

    Args:
        predict: function that computes the outputs.
        model: model to export, which determines the shape and the range of ids.
    """
    sizes = {
        "input_ids": model.config.vocab_size,
        "input_mask": 2,
        "segment_ids": model.config.type_vocab_size,
    }

    def serve(
        input_ids: tf.Tensor, input_mask: tf.Tensor, segment_ids: tf.Tensor
    ) -> Tensors:
        values = (input_ids, input_mask, segment_ids)
        features = dict(zip(sizes, values, strict=True))
        checks = []
        if not ops.uses_plain_versions():
            checks = _assert_ids_in_range(features, sizes)
        with tf.control_dependencies(checks):
            return predict(
                {name: tf.identity(value) for name, value in features.items()}
            )

    inputs = [
        tf.TensorSpec([None] * model.feature_ranks[name], tf.int32, name=name)
        for name in sizes
    ]
    return Signature(serve, inputs)


def _assert_ids_in_range(
    features: Tensors, sizes: Mapping[str, int]
) -> list[tf.Operation]:
    """Returns operations that fail on ids outside the model's range."""
    checks = []
    for name, size in sizes.items():
        lowest = tf.reduce_min(features[name])
        highest = tf.reduce_max(features[name])
        reason = f"{name} must be from 0 to {size - 1}. Lowest, highest:"
        is_valid = (lowest >= 0) & (highest < size)
        checks.append(assert_true(is_valid, reason, lowest, highest))
    return checks


def create_tokenize_signature(packing: PackingLayer) -> Signature:
    """Returns the signature `tokenize`.

    Its inputs are `text_a` and `text_b`, string [N]. A `text_b` of "" means no
    second text. `tokenize` returns

        tokens          string [N, M], the tokens that the model reads, with
                        [CLS] and [SEP], "" at positions of padding
        lengths         int32 [N], the number of tokens
        num_wordpieces  int32 [N], number of WordPieces of both texts before
                        long texts are cut
    """
    vocab = packing.tokenizer.vocab

    def tokenize(text_a: tf.Tensor, text_b: tf.Tensor) -> Tensors:
        tokens = packing.tokenize(text_a, text_b)
        ids = packing.join(*tokens).ids
        names = ids.with_flat_values(tf.gather(vocab, ids.flat_values))
        counts = [tf.cast(texts.row_lengths(), tf.int32) for texts in tokens]
        return {
            **to_padded({"tokens": names}),
            "lengths": tf.cast(ids.row_lengths(), tf.int32),
            "num_wordpieces": tf.add_n(counts),
        }

    return Signature(tokenize, text_inputs("text_a", "text_b"))
