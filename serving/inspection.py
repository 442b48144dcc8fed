"""Signatures that show a model's view of a text: WordPieces, attention.

N = texts, T = WordPieces of the longest, L = blocks, A = heads.
"""

from typing import Any

import tensorflow as tf

from data.text.packing_layer import PackingLayer
from modeling import BertModel
from serving import signatures
from serving.signatures import Features

# Maximum attention weights of one call: BERT-Base's over 512 WordPieces, 150
# MB.
MAX_WEIGHTS = 12 * 12 * 512 * 512


def inspect(bert: BertModel, packing: PackingLayer) -> signatures.Endpoints:
    """Returns the two endpoints that all exports over text share.

    Both take `text_a` and `text_b`, string [N]; "" is no second text.
    `tokenize` returns

        tokens          string [N, T], as the model reads them, with [CLS] and
                        [SEP]; "" where a text has ended
        lengths         int32 [N], the number of its tokens
        num_wordpieces  int32 [N], WordPieces of both texts, uncut

    `attention` returns `tokens` and `lengths` as well, and

        attention_probs  float32 [N, L, A, T, T]: how much each token attends
                         to each, 1 in all; 0 where a text has ended

    Args:
        bert: the encoder.
        packing: packs the texts, and cuts long ones.
    """
    vocab = packing.tokenizer.vocab
    signature = signatures.text_signature("text_a", "text_b")

    # One graph for both endpoints.
    @tf.function(autograph=False, input_signature=signature)
    def read(
        text_a: tf.Tensor, text_b: tf.Tensor
    ) -> tuple[tuple[tf.RaggedTensor, ...], Features]:
        tokens = packing.tokenize(text_a, text_b)
        ids, _ = packing.join(*tokens)
        names = ids.with_flat_values(tf.gather(vocab, ids.flat_values))
        return tokens, {
            **signatures.to_padded({"tokens": names}),
            "lengths": tf.cast(ids.row_lengths(), tf.int32),
        }

    def tokenize(text_a: tf.Tensor, text_b: tf.Tensor) -> Features:
        tokens, outputs = read(text_a, text_b)
        counts = [tf.cast(some.row_lengths(), tf.int32) for some in tokens]
        return {**outputs, "num_wordpieces": tf.add_n(counts)}

    def attention(text_a: tf.Tensor, text_b: tf.Tensor) -> Features:
        tokens, outputs = read(text_a, text_b)
        check = _check_size(bert, outputs["lengths"], packing.max_seq_length)
        with tf.control_dependencies([check]):
            features = signatures.trim(packing.pack(*tokens))
            computed = bert(features, return_attention_probs=True)
        # [B, A, T, T] of each block -> [B, L, A, T, T]
        probs = tf.stack(computed["attention_probs"], axis=1)
        is_real = features["input_mask"] > 0
        probs = tf.where(
            is_real[:, None, None, :, None], tf.cast(probs, tf.float32), 0.0
        )
        return {**outputs, "attention_probs": probs}

    return {
        "tokenize": (tokenize, signature),
        "attention": (attention, signature),
    }


def _check_size(bert: BertModel, lengths: tf.Tensor, max_length: int) -> Any:
    """Returns an operation that refuses too many weights for the memory."""
    config = bert.config
    num_texts = tf.size(lengths, tf.int64)
    longest = tf.reduce_max(tf.cast(tf.concat([lengths, [0]], 0), tf.int64))
    maps = config.num_hidden_layers * config.num_attention_heads
    # Inputs take memory too, where there are many short ones.
    num_weights = tf.maximum(maps * longest * longest, max_length)
    most = max(MAX_WEIGHTS, maps * config.max_position_embeddings**2)
    return tf.debugging.Assert(
        num_texts * num_weights <= most,
        [
            "The attention of these texts does not fit into memory; ask for "
            "fewer at a time. Received: texts, WordPieces of the longest:",
            num_texts,
            longest,
        ],
    )
