"""Texts become one record each, or one for each of their windows."""

import numpy as np
import pytest

from data.classification.classification_examples import InputExample
from tests.support.tasks.task_sets import create_set
from tests.support.tasks.toy_task import load_tokenizer
from training.tasks.text_encoding import create_text_encoding

LABELS = ["no", "yes"]
EXAMPLES = [
    InputExample("1", "the man saw a river .", label="no"),
    InputExample("2", "a day", label="yes"),
]
# Outputs of three records.
LOGITS = np.array([[1.0, 0.0], [3.0, 1.0], [5.0, 5.0]], "float32")


def create_encoding(doc_stride):
    """Returns an encoding in records of 5 WordPieces."""
    return create_text_encoding(LABELS, 5, load_tokenizer(), doc_stride)


@pytest.mark.parametrize(
    ("doc_stride", "expected"),
    [
        pytest.param(0, [0, 1], id="cut"),
        # Six WordPieces, of which a window holds three, and a text of two.
        pytest.param(2, [0, 0, 0, 1], id="windows"),
    ],
)
def test_a_record_has_the_index_of_its_text(doc_stride, expected):
    encoded = create_encoding(doc_stride).encode(EXAMPLES)
    assert [index for _, index in encoded] == expected


def test_the_windows_of_a_text_are_pooled_to_their_mean():
    encoded_set = create_set("dev", EXAMPLES, decoding_contexts=[0, 0, 1])
    ((_, pooled),) = create_encoding(2).pool(encoded_set, [({}, LOGITS)])
    assert pooled.tolist() == [[2.0, 0.5], [5.0, 5.0]]


def test_the_outputs_of_texts_that_were_cut_stay_as_they_are():
    batches = [({}, LOGITS)]
    encoded_set = create_set("dev", EXAMPLES, decoding_contexts=[0, 1, 2])
    assert create_encoding(0).pool(encoded_set, batches) is batches


def test_only_windows_refuse_pairs():
    pairs = [InputExample("1", "a man", "a day", label="no")]
    create_encoding(0).check_examples("train", pairs)
    with pytest.raises(ValueError, match="the train set contains pairs"):
        create_encoding(2).check_examples("train", pairs)


def test_windows_read_the_whole_text():
    assert create_encoding(0).max_text_length == 5
    assert create_encoding(2).max_text_length > 10_000
