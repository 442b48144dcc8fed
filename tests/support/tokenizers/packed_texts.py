"""Packs texts into the inputs of a network, as the scripts do.

For example:

    logits = served.model(pack(served, ["A boat."]))
"""

from collections.abc import Sequence
from types import SimpleNamespace

import tensorflow as tf

from data.classification.classification_examples import InputExample
from data.classification.classification_features import convert_single_example
from data.text import packing_graph
from data.text.tokenization import FullTokenizer
from modeling.tensors import Features
from tests.support.serving.exports import LENGTH
from training.extraction import feature_extraction


def pack(
    served: SimpleNamespace,
    text_a: Sequence[str],
    text_b: Sequence[str] | None = None,
) -> Features:
    """Returns run_classifier.py's inputs of texts, int32 [N, LENGTH]."""
    no_texts: list[None] = [None] * len(text_a)
    pairs = zip(text_a, text_b or no_texts, strict=True)
    examples = [InputExample(i, *each, "0") for i, each in enumerate(pairs)]
    (features,) = feature_extraction.create_batches(
        examples, served.tokenizer, LENGTH, len(examples), trims_padding=False
    )
    return features


def check_packed(
    tokenizer: FullTokenizer,
    max_seq_length: int,
    texts_a: Sequence[str],
    texts_b: Sequence[str] | None = None,
) -> None:
    """Compares packed texts with the inputs that run_classifier.py creates."""
    no_texts: list[None] = [None] * len(texts_a)
    pairs = zip(texts_a, texts_b or no_texts, strict=True)
    texts = map(tf.constant, filter(None, (texts_a, texts_b)))
    layer = packing_graph.PackingLayer(tokenizer.layer, max_seq_length)
    packed = layer(*texts)
    for row, pair in enumerate(pairs):
        example = InputExample("g", *pair, "0")
        expected = convert_single_example(
            9, example, ["0"], max_seq_length, tokenizer
        )
        for name, values in packed.items():
            assert values.dtype == tf.int32
            assert values[row].numpy().tolist() == getattr(expected, name)
