"""SWAG's files and features."""

import itertools

import pytest
import tensorflow as tf

from data.classification import swag_examples
from data.classification.classification_features import (
    encode_classification_features,
)

RELEASED = (
    ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,"
    "ending2,ending3,label\n"
    '0,v_1,3416,"a, b",a,b,gold,c.,a.,"b, ""c""",d.,{label}\n'
)


def test_the_released_files_are_read(tmp_path):
    (tmp_path / "val.csv").write_text(RELEASED.format(label=2))
    test_set = RELEASED.replace(",label", "").replace(",{label}", "")
    (tmp_path / "test.csv").write_text(test_set)
    (example,) = swag_examples.read_swag_set(tmp_path, "dev")
    endings = ["b c.", "b a.", 'b b, "c"', "b d."]
    expected = ("dev-1", "a", endings, "2")
    assert example == swag_examples.SwagExample(*expected)
    (example,) = swag_examples.read_swag_set(tmp_path, "test")
    assert example == swag_examples.SwagExample("test-1", *expected[1:-1], None)


def test_a_missing_set_is_named_by_the_files_that_may_be_it(tmp_path):
    says = r"named train\.csv or train\.jsonl"
    with pytest.raises(FileNotFoundError, match=says):
        swag_examples.read_swag_set(tmp_path, "train")


def test_labels_of_a_test_set_are_read(tmp_path):
    row = RELEASED.splitlines()[1]
    text = RELEASED.format(label=2) + row.format(label="")
    (tmp_path / "test.csv").write_text(text)
    examples = swag_examples.read_swag_set(tmp_path, "test")
    assert [example.label for example in examples] == ["2", None]


def test_a_label_that_is_not_an_ending_is_named(tmp_path):
    (tmp_path / "test.csv").write_text(RELEASED.format(label=4))
    with pytest.raises(ValueError, match="line 2, column 'label'"):
        swag_examples.read_swag_set(tmp_path, "test")


def create_feature(tokenizer, max_seq_length):
    """Returns the input of an example, whose third ending is right."""
    endings = ["b c", "b c d", "b d d d", "b"]
    example = swag_examples.SwagExample("g", "a a", endings, "2")
    (feature,) = swag_examples.create_swag_features(
        [example], max_seq_length, tokenizer
    )
    return feature


def test_each_ending_follows_the_sentence_in_an_input(tokenizer):
    feature = create_feature(tokenizer, max_seq_length=8)
    ids = [
        [2, 4, 4, 3, 5, 6, 3, 0],
        [2, 4, 4, 3, 5, 6, 9, 3],
        # A pair is cut at its longer end.
        [2, 4, 4, 3, 5, 9, 9, 3],
        [2, 4, 4, 3, 5, 3, 0, 0],
    ]
    assert feature.input_ids == [*itertools.chain(*ids)]
    assert feature.input_mask == [
        int(token_id > 0) for token_id in feature.input_ids
    ]
    assert feature.segment_ids[:16] == [0] * 4 + [1] * 3 + [0] * 5 + [1] * 4


@pytest.mark.parametrize(("max_seq_length", "is_cut"), [(8, True), (9, False)])
def test_an_input_is_cut_if_one_of_its_choices_is(
    tokenizer, max_seq_length, is_cut
):
    assert create_feature(tokenizer, max_seq_length).is_cut == is_cut


def test_a_record_contains_the_choices_and_the_right_one(tokenizer):
    feature = create_feature(tokenizer, max_seq_length=8)
    record = encode_classification_features(feature)
    values = tf.train.Example.FromString(record).features.feature
    assert list(values["input_ids"].int64_list.value) == feature.input_ids
    assert list(values["label_ids"].int64_list.value) == [2]
