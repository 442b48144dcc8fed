"""The signatures of a tagger: its words, and their tags."""

import numpy as np
import pytest
import tensorflow as tf

from exporting.tag_signatures import create_tag_signatures
from modeling import BertTokenClassifier
from tests.support.serving.exports import TAGS, create_model, create_options

TEXTS = ["Anna, of York\u2014often", "the sea"]


@pytest.fixture(scope="module")
def model():
    """A tiny tagger."""
    return create_model(BertTokenClassifier, len(TAGS))


@pytest.fixture
def ask_signature(model):
    """A function (signature, **settings) -> {name: array} for TEXTS."""

    def ask(name, **settings):
        settings = {"labels": TAGS} | settings
        signatures = create_tag_signatures(model, settings, create_options())
        outputs = signatures.text_signatures[name].function(tf.constant(TEXTS))
        return {name: value.numpy() for name, value in outputs.items()}

    return ask


def texts_of(rows):
    """Returns the strings of an array as lists."""
    return [[text.decode() for text in row] for row in rows]


def test_tag_words_splits_only_at_white_space(ask_signature):
    assert texts_of(ask_signature("tag_words")["words"]) == [
        ["Anna,", "of", "York\u2014often"],
        ["the", "sea", ""],
    ]


def test_tag_splits_off_punctuation_and_dashes(ask_signature):
    assert texts_of(ask_signature("tag")["words"]) == [
        ["Anna", ",", "of", "York", "\u2014", "often"],
        ["the", "sea", "", "", "", ""],
    ]


def test_num_words_counts_the_words_of_each_text(ask_signature):
    assert ask_signature("tag")["num_words"].tolist() == [6, 2]


def test_after_the_last_word_there_is_no_tag(ask_signature):
    outputs = ask_signature("tag")
    assert texts_of(outputs["tags"])[1][2:] == [""] * 4
    assert not outputs["probabilities"][1][2:].any()


def test_the_best_sequence_of_tags_is_legal(ask_signature):
    for tags in texts_of(ask_signature("tag")["tags"]):
        for before, tag in zip(["O", *tags], tags, strict=False):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_without_legal_tags_each_word_has_its_most_probable_tag(ask_signature):
    free = ask_signature("tag", legal_tags=False)["probabilities"]
    legal = ask_signature("tag", legal_tags=True)["probabilities"]
    assert np.all(free >= legal - 1e-6)


def test_an_export_records_the_tags_and_their_choice(model):
    signatures = create_tag_signatures(
        model, {"labels": TAGS, "legal_tags": False}, create_options()
    )
    assert signatures.head_settings == {"labels": TAGS, "legal_tags": False}
