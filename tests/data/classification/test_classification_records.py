"""Records of classifications: labels, weights, and texts that were cut."""

import pytest
import tensorflow as tf

from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    ClassificationFeatures,
    convert_examples_to_features,
    convert_single_example,
)
from data.classification.classification_records import (
    encode_classification_features,
    encode_features,
)


def test_texts_that_were_cut_are_counted(tokenizer, caplog):
    caplog.set_level("INFO", logger="absl")
    pairs = [
        ("a b a b a b", None),  # As long as fits.
        ("a b a b a b a", None),
        ("a a a", "b b"),
        ("a a a", "b b b"),
        ("a a a a a a", ""),
        ("", "b b b b b b"),
    ]
    examples = [InputExample("g", *pair, "0") for pair in pairs]

    feature_list = [
        *convert_examples_to_features(examples, ["0"], 8, tokenizer)
    ]
    assert len([*encode_features(feature_list, 8)]) == 6
    cut = [False, True, False, True, False, True]
    assert [feature.is_cut for feature in feature_list] == cut
    message = "3 of 6 texts were longer than --max_seq_length=8 and were cut"
    assert caplog.messages[-1] == message


@pytest.mark.parametrize(
    "label, label_list, label_id, kind",
    [
        ("1", ["0", "1"], 1, "int64_list"),
        ("2.5", None, 2.5, "float_list"),
        (["b", "c"], ["a", "b", "c"], [0, 1, 1], "int64_list"),
        ([], ["a", "b"], [0, 0], "int64_list"),
    ],
)
def test_a_record_contains_the_id_of_the_label(
    tokenizer, label, label_list, label_id, kind
):
    example = InputExample("g", "a", None, label)
    features = convert_single_example(9, example, label_list, 4, tokenizer)
    assert features.label_id == label_id
    record = encode_classification_features(features)
    values = tf.train.Example.FromString(record).features.feature
    label_ids = label_id if isinstance(label_id, list) else [label_id]
    assert getattr(values["label_ids"], kind).value == label_ids
    assert values["input_ids"].int64_list.value == features.input_ids
    assert values["is_real_example"].int64_list.value == [1]


def test_the_record_of_a_window_contains_its_weight():
    window = ClassificationFeatures([2, 3], [1, 1], [0, 0], 1, weight=1 / 3)
    record = encode_classification_features(window)
    values = tf.train.Example.FromString(record).features.feature
    assert values["example_weights"].float_list.value == pytest.approx([1 / 3])
