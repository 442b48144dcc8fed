"""Packs texts into the inputs of a network, as the scripts do.

For example:

    logits = served.model(pack(served, ["A boat."]))
"""

import extract_features
from data.classification.classification_examples import InputExample
from tests.support.exports import LENGTH


def pack(served, text_a, text_b=None):
    """Returns run_classifier.py's inputs of texts, int32 [N, LENGTH]."""
    pairs = zip(text_a, text_b or [None] * len(text_a), strict=True)
    examples = [InputExample(i, *each, "0") for i, each in enumerate(pairs)]
    (features,) = extract_features.create_batches(
        examples, served.tokenizer, LENGTH, len(examples), trim=False
    )
    return features
