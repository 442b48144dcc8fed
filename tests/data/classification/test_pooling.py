"""Texts read in windows: the records, and one answer from all windows."""

import numpy as np
import pytest
import scipy.special
import tensorflow as tf

from data.classification import decoding, features
from data.classification.examples import InputExample
from modeling import losses


def test_windows_cover_a_text_and_weigh_one_text_together(tokenizer, caplog):
    caplog.set_level("INFO", logger="absl")
    texts = ["a b c a b c a", "", "a b c"]
    examples = [InputExample("g", text, None, "y") for text in texts]
    found = [*features.create_windows(examples, ["x", "y"], 6, tokenizer, 2)]
    long, empty, short = found
    assert [each.input_ids for each in long] == [
        [2, 4, 5, 6, 4, 3],
        [2, 6, 4, 5, 6, 3],
        [2, 5, 6, 4, 3, 0],
    ]
    assert [each.input_mask for each in long][2] == [1, 1, 1, 1, 1, 0]
    assert [each.input_ids for each in empty] == [[2, 3, 0, 0, 0, 0]]
    assert [each.input_ids for each in short] == [[2, 4, 5, 6, 3, 0]]
    assert [each.weight for each in long] == [1 / 3] * 3
    assert [each.weight for each in (*empty, *short)] == [1, 1]
    assert {each.label_id for group in found for each in group} == {1}
    assert caplog.messages == [
        "1 of 3 texts were longer than --max_seq_length=6 and were split "
        "into windows (--doc_stride=2)"
    ]
    record = features.encode_classification_features(long[0])
    values = tf.train.Example.FromString(record).features.feature
    assert values["example_weights"].float_list.value == pytest.approx([1 / 3])


def test_a_loss_counts_windows_by_their_weights():
    logits = np.array([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], np.float32)
    batch = {
        "label_ids": np.array([0, 0, 1]),
        "is_real_example": np.array([1, 1, 1]),
        "example_weights": np.array([0.5, 0.5, 1.0], np.float32),
    }
    each = -scipy.special.log_softmax(logits, -1)[range(3), batch["label_ids"]]
    found, _ = losses.ClassifierLoss()(logits, batch)
    expected = (each[:2].mean() + each[2]) / 2
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_batches_of_windows_become_one_of_texts():
    rows = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    every = {
        "input_ids": np.array([[1, 2]] * 5),
        "label_ids": np.array([7, 7, 8, 8, 8]),
        "is_real_example": np.ones(5, int),
    }
    batches = [
        ({name: values[part] for name, values in every.items()}, rows[part])
        for part in (slice(0, 3), slice(3, 5))
    ]
    ((found, logits),) = decoding.pool_batches(batches, [0, 2])
    assert {name: values.tolist() for name, values in found.items()} == {
        "label_ids": [7, 8],
        "is_real_example": [1, 1],
    }
    np.testing.assert_array_equal(logits, [[1, 2], [6, 7]])
