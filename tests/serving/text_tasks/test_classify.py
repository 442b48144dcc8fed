"""The inputs of a text to classify, and the labels of given outputs.

test_classify_windows.py compares texts of many windows with the model.
"""

import numpy as np
import pytest

from serving.text_tasks.classify import (
    CLASSIFY,
    ClassifierHead,
    parse_classifier_head,
)
from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.text_task import ReplyOptions
from tests.support.serving.exports import TOKENIZER
from tests.support.serving.stub_engines import NumpyEngine

LABELS = ["low", "high"]


def create_model(**settings):
    """Returns a model that reads 8 WordPieces, and has no network."""
    return LoadedExport(
        engine=NumpyEngine(),
        tokenizer=TOKENIZER,
        max_seq_length=8,
        head=ClassifierHead(labels=LABELS, **settings),
    )


def decode(outputs, output_mode="classification", **options):
    """Returns the reply to a text whose inputs have these outputs."""
    arrays = [
        {name: np.array(values, np.float32) for name, values in output.items()}
        for output in outputs
    ]
    model = create_model(output_mode=output_mode)
    return CLASSIFY.decode(model, None, arrays, ReplyOptions(**options))


def test_a_pair_is_one_input():
    request = {"text_a": "the boat", "text_b": "the sea"}
    (network_input,) = CLASSIFY.encode(create_model(), request).inputs
    tokens = ["[CLS]", "the", "boat", "[SEP]", "the", "sea", "[SEP]"]
    assert TOKENIZER.convert_ids_to_tokens(network_input.ids) == tokens
    assert network_input.first_length == 4


def test_a_stride_cuts_a_text_into_windows():
    request = {"text": "the boat " * 5}
    encoded = CLASSIFY.encode(create_model(doc_stride=4), request)
    assert [len(network_input.ids) for network_input in encoded.inputs] == [
        8,
        8,
    ]


def test_a_text_without_words_has_a_window_too():
    encoded = CLASSIFY.encode(create_model(doc_stride=4), {"text": " "})
    assert len(encoded.inputs) == 1


def test_the_label_is_the_most_probable_one():
    reply = decode([{"probabilities": [0.25, 0.75]}])
    assert reply == {
        "label": "high",
        "probabilities": {"low": 0.25, "high": 0.75},
    }


def test_a_label_that_is_not_probable_enough_is_left_out():
    reply = decode([{"probabilities": [0.25, 0.75]}], min_probability=0.8)
    assert reply["label"] is None


def test_a_text_may_have_several_labels():
    reply = decode([{"probabilities": [0.75, 0.75]}], "multilabel")
    assert reply["label"] == LABELS


def test_the_logits_of_windows_are_averaged():
    reply = decode([{"logits": [4.0, 0.0]}, {"logits": [-4.0, 0.0]}])
    assert [*reply["probabilities"].values()] == pytest.approx([0.5, 0.5])


def test_regression_tells_a_value():
    assert decode([{"values": 2.5}], "regression") == {"value": 2.5}


def test_a_head_without_labels_has_an_empty_list():
    assert parse_classifier_head({"labels": None}).labels == []


def test_a_head_without_an_output_mode_classifies():
    head = parse_classifier_head({"labels": LABELS})
    assert head == ClassifierHead(labels=LABELS, output_mode="classification")
