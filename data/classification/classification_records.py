"""Serializes the features of classifications as records."""

from collections.abc import Iterable, Iterator

from data.classification.classification_features import ClassificationFeatures
from data.io import tf_examples
from data.text import token_windows


def encode_features(
    features: Iterable[ClassificationFeatures], max_seq_length: int
) -> Iterator[bytes]:
    """Yields serialized features, then logs how many texts were truncated."""
    counted = token_windows.log_num_cut(
        features,
        lambda text_features: text_features.is_cut,
        f"texts were longer than --max_seq_length={max_seq_length} and were "
        "cut",
    )
    return map(encode_classification_features, counted)


def encode_classification_features(features: ClassificationFeatures) -> bytes:
    """Serializes ClassificationFeatures as a tf.train.Example.

    `label_ids` and `example_weights` are missing if they are unknown.
    """
    # Each example is real. In Google's records, 0 marks the padding examples
    # that fill up the last batch.
    values: dict[str, tf_examples.Values] = {"is_real_example": [1]}
    label = features.label_id
    if label is not None:
        values["label_ids"] = label if isinstance(label, list) else [label]
    if features.weight is not None:
        values["example_weights"] = [features.weight]
    return tf_examples.encode_inputs(features, values)
