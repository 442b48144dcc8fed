"""The signature `tokenize`, which returns the WordPieces of a text.

N = number of texts or pairs of texts, M = length of the longest of them in
WordPieces.
"""

import tensorflow as tf

from data.text.packing_graph import PackingLayer
from serving.exporting.signatures import batching_graph
from serving.exporting.signatures.batching_graph import Tensors
from serving.exporting.signatures.signature import (
    Signature,
    text_inputs,
)


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
            **batching_graph.to_padded({"tokens": names}),
            "lengths": tf.cast(ids.row_lengths(), tf.int32),
            "num_wordpieces": tf.add_n(counts),
        }

    return Signature(tokenize, text_inputs("text_a", "text_b"))
