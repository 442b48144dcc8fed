"""The words that are tagged, and the entities that their tags name.

tests/serving/text_tasks/test_text_task_twins.py compares the task with its
graph.
"""

import numpy as np
import pytest

from serving.text_tasks.loaded_export import LoadedExport
from serving.text_tasks.tag import (
    TAG,
    TokenClassifierHead,
    parse_token_classifier_head,
)
from serving.text_tasks.text_task import ReplyOptions
from tests.support.serving.exports import TAGS, TEXTS, TOKENIZER
from tests.support.serving.stub_engines import NumpyEngine

LOADED = LoadedExport(
    engine=NumpyEngine(),
    tokenizer=TOKENIZER,
    max_seq_length=8,
    head=TokenClassifierHead(labels=TAGS),
)


def tag(request, tags):
    """Returns the reply to a request whose words have these tags.

    The network assigns the probability 0.9 to the tag of the first word, 0.8 to
    that of the second, and so on. Each word must be a WordPiece.
    """
    encoded = TAG.encode(LOADED, request)
    (network_input,) = encoded.inputs
    rows = np.full((len(network_input.ids), len(TAGS)), 0.01, np.float32)
    for word_index, name in enumerate(tags):
        # The first WordPiece is [CLS].
        rows[word_index + 1, TAGS.index(name)] = 0.9 - 0.1 * word_index
    outputs = [{"probabilities": rows}]
    return TAG.decode(LOADED, encoded.decoding_context, outputs, ReplyOptions())


def test_each_word_has_the_most_probable_tag():
    reply = tag({"text": "the boat"}, ["O", "B-LOC"])
    assert reply["words"] == ["the", "boat"]
    assert reply["tags"] == ["O", "B-LOC"]
    assert reply["probabilities"] == pytest.approx([0.9, 0.8])


def test_an_entity_is_as_probable_as_its_least_probable_tag():
    reply = tag({"text": "the  boat of"}, ["B-LOC", "I-LOC", "O"])
    (entity,) = reply["entities"]
    assert entity["probability"] == pytest.approx(0.8)
    assert (entity["type"], entity["text"]) == ("LOC", "the  boat")
    assert reply["label"] == [[0, 9, "LOC"]]


def test_words_have_tags_but_no_places():
    reply = tag({"words": ["the", "boat"]}, ["O", "B-LOC"])
    assert reply.keys() == {"words", "tags", "probabilities"}


def test_many_words_are_cut_into_windows_that_contain_all_of_them():
    encoded = TAG.encode(LOADED, {"words": ["the"] * 20})
    assert max(len(network_input.ids) for network_input in encoded.inputs) == 8
    word_indices = {
        word_index
        for window in encoded.decoding_context.windows
        for _, _, word_index in window.words
    }
    assert word_indices == {*range(20)}


def test_the_offsets_of_words_and_entities_point_to_them_in_the_text(
    load_text_model,
):
    for text in filter(str.strip, TEXTS):
        result = load_text_model("ner").tag(text)
        for word, (start, end) in zip(
            result["words"], result["spans"], strict=True
        ):
            assert text[start:end] == word
        for entity in result["entities"]:
            assert text[entity["start"] : entity["end"]] == entity["text"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("York\u2014often", "York \u2014 often"),
        ("York--often", "York -- often"),
        ("York\u2026Anna...Bob", "York \u2026 Anna ... Bob"),
        # Words of CoNLL's files.
        ("O'Brien Franco-German 1990\u20131995", None),
    ],
)
def test_dashes_between_words_are_tagged_as_words(text, words, load_text_model):
    result = load_text_model("ner").tag(text)
    assert result["words"] == (words or text).split()
    assert [text[start:end] for start, end in result["spans"]] == result[
        "words"
    ]


@pytest.mark.parametrize(
    ("settings", "chooses_legal_tags"),
    [({}, False), ({"legal_tags": False}, False), ({"legal_tags": True}, True)],
)
def test_an_export_must_state_that_it_chooses_legal_tags(
    settings, chooses_legal_tags
):
    head = parse_token_classifier_head({"labels": TAGS, **settings})
    assert head.chooses_legal_tags == chooses_legal_tags
