"""Packs texts into the inputs of a network, as the scripts do.

For example:

    logits = served.model(pack(served, ["A boat."]))
"""

import tensorflow as tf

import extract_features
from data.classification.classification_examples import (
    InputExample,
    convert_single_example,
)
from data.text import packing_layer
from tests.support.serving.exports import LENGTH


def pack(served, text_a, text_b=None):
    """Returns run_classifier.py's inputs of texts, int32 [N, LENGTH]."""
    pairs = zip(text_a, text_b or [None] * len(text_a), strict=True)
    examples = [InputExample(i, *each, "0") for i, each in enumerate(pairs)]
    (features,) = extract_features.create_batches(
        examples, served.tokenizer, LENGTH, len(examples), trim=False
    )
    return features


def check_packed(tokenizer, max_seq_length, texts_a, texts_b=None):
    """Compares packed texts with the inputs that run_classifier.py creates."""
    pairs = zip(texts_a, texts_b or [None] * len(texts_a), strict=True)
    texts = map(tf.constant, filter(None, (texts_a, texts_b)))
    layer = packing_layer.PackingLayer(tokenizer.layer, max_seq_length)
    packed = layer(*texts)
    for row, pair in enumerate(pairs):
        example = InputExample("g", *pair, "0")
        expected = convert_single_example(
            9, example, ["0"], max_seq_length, tokenizer
        )
        for name, values in packed.items():
            assert values.dtype == tf.int32
            assert values[row].numpy().tolist() == getattr(expected, name)
