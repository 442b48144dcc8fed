"""The windows of sentences, and the tags that are chosen in them."""

import numpy as np
import pytest

from data.ner import sentence_windows as windows
from data.ner.ner_examples import NerExample

LABELS = ["O", "B-LOC", "B-PER", "I-PER"]
# Two sentences of a document, and one of another.
EXAMPLES = [
    NerExample("g-1", ["ad", "b", "c"], ["B-PER", "I-PER", "O"], 1),
    NerExample("g-2", ["a"], ["B-LOC"], 1),
    NerExample("g-3", ["b"], ["O"], 2),
]


def test_first_word_piece_has_the_label(tokenizer):
    first, _, _ = windows.create_ner_features(EXAMPLES, LABELS, 8, tokenizer)
    assert first.tokens == ["[CLS]", "a", "##d", "b", "c", "[SEP]"]
    assert first.input_ids == [2, 4, 7, 5, 6, 3, 0, 0]
    assert first.input_mask == [1] * 6 + [0] * 2
    assert first.label_ids == [0, 2, 0, 3, 0, 0, 0, 0]
    assert first.label_weights == [0, 1, 0, 1, 1, 0, 0, 0]


def test_the_next_sentences_are_the_context(tokenizer):
    args = EXAMPLES, LABELS, 8, tokenizer
    first, second = windows.create_ner_features(*args, document_context=True)
    assert first.tokens == ["[CLS]", "a", "##d", "b", "c", "a", "[SEP]"]
    assert first.words == [(1, 0, 0), (3, 0, 1), (4, 0, 2), (5, 1, 0)]
    assert second.tokens == ["[CLS]", "b", "[SEP]"]


@pytest.fixture(params=[3, 4, 5, 7, 32])
def max_seq_length(request):
    """The length of a window."""
    return request.param


@pytest.fixture
def examples(max_seq_length):
    """Ten sentences of random words and tags."""
    rng = np.random.default_rng(max_seq_length)
    sentences = []
    for i in range(10):
        words = rng.choice(["a", "bd", "cde", "\u200b"], rng.integers(1, 9))
        labels = rng.choice(LABELS, len(words)).tolist()
        sentences.append(NerExample(f"g-{i}", words, labels, i // 3))
    return sentences


@pytest.fixture(params=[False, True])
def features(request, examples, max_seq_length, tokenizer):
    """The windows of the sentences, without and with their documents."""
    args = examples, LABELS, max_seq_length, tokenizer, request.param
    return [*windows.create_ner_features(*args)]


def test_each_word_is_counted_in_exactly_one_window(examples, features):
    counted = [word[1:] for feature in features for word in feature.words]
    assert len(counted) == len(set(counted))
    assert len(counted) == sum(len(example.words) for example in examples)


def test_only_words_of_a_window_have_a_weight(features, max_seq_length):
    weights = np.zeros((len(features), max_seq_length))
    for row, feature in zip(weights, features, strict=True):
        row[[word.position for word in feature.words]] = 1
    assert [feature.label_weights for feature in features] == weights.tolist()


def test_outputs_of_wordpieces_without_a_weight_choose_no_tag(
    examples, features
):
    predicted = [
        np.eye(len(LABELS))[
            np.where(np.array(feature.label_weights) > 0, feature.label_ids, 1)
        ]
        for feature in features
    ]
    tags, _ = windows.choose_tags(examples, features, predicted, LABELS, False)
    assert tags == [example.tags for example in examples]
