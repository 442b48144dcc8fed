"""The preprocessor in datasets of tf.data."""

import numpy as np
import pytest
import tensorflow as tf

from tests.support.tokenizers.preprocessor_cases import (
    LENGTH,
    SECONDS,
    TEXTS,
    assert_same,
    expected,
)


def dataset_of(*columns):
    """Returns a dataset of texts, or of texts and labels."""
    return tf.data.Dataset.from_tensor_slices(
        columns if len(columns) > 1 else columns[0]
    )


LABELS = np.arange(3)


def test_a_dataset_knows_the_shape_of_its_features(preprocessor):
    batches = dataset_of(TEXTS, LABELS).map(preprocessor).batch(3)
    assert batches.element_spec[0]["input_ids"].shape == (None, LENGTH)


@pytest.mark.parametrize("is_batched", [False, True])
def test_a_dataset_maps_texts_before_and_after_it_is_batched(
    preprocessor, sample_tokenizer, is_batched
):
    dataset = dataset_of(TEXTS, LABELS)
    if is_batched:
        batches = dataset.batch(3).map(preprocessor)
    else:
        batches = dataset.map(preprocessor).batch(3)
    features, batch_labels = next(iter(batches))
    assert_same(features, expected(sample_tokenizer, TEXTS))
    assert batch_labels.numpy().tolist() == [0, 1, 2]


def test_a_dataset_maps_pairs(preprocessor, sample_tokenizer):
    dataset = dataset_of((TEXTS, SECONDS), LABELS)
    features, _ = next(iter(dataset.batch(3).map(preprocessor)))
    assert_same(features, expected(sample_tokenizer, TEXTS, SECONDS))


def test_a_function_of_a_dataset_calls_the_preprocessor(
    preprocessor, sample_tokenizer
):
    batches = (
        dataset_of((TEXTS, SECONDS), LABELS)
        .map(lambda texts, label: (preprocessor(texts), label, 1.0))
        .batch(3)
    )
    features, _, _ = next(iter(batches))
    assert_same(features, expected(sample_tokenizer, TEXTS, SECONDS))


def test_a_dataset_without_labels_maps_the_preprocessor(
    preprocessor, sample_tokenizer
):
    batches = dataset_of(TEXTS).batch(3).map(preprocessor)
    assert_same(next(iter(batches)), expected(sample_tokenizer, TEXTS))


def test_second_texts_in_the_place_of_labels_are_refused(preprocessor):
    # Without the tuple, the second texts would be the labels.
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, SECONDS))
    with pytest.raises(ValueError, match="Pass a pair of texts as a tuple"):
        dataset.map(preprocessor)
