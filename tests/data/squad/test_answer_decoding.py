"""Answers that the logits of small passages give.

test_answer_decoding_golden.py compares answers with those that Google's code
recorded.
"""

import dataclasses

import numpy as np
import pytest

from data.squad import answer_decoding, token_spans
from data.squad.squad_options import DecodingOptions
from data.text import tokenization
from tests.support.squad.squad_passages import create_windows

TOKENIZER = tokenization.BasicTokenizer()


def decode_answers(examples, features, best, tokenizer=TOKENIZER, **kwargs):
    """Decodes where the tokens named in `best` have the highest logits."""
    results = []
    for feature in features:
        logits = np.zeros((2, len(feature.input_ids)))
        for i, (token, value) in enumerate(best):
            if token in feature.tokens:
                logits[i, feature.tokens.index(token)] = value
        results.append(token_spans.RawResult(feature.unique_id, *logits))
    options = DecodingOptions(n_best_size=3, max_answer_length=5)
    options = dataclasses.replace(options, **kwargs)
    return answer_decoding.decode_predictions(
        examples, features, results, options, tokenizer
    )


@pytest.mark.parametrize(("threshold", "answer"), [(0.5, ""), (1.5, "b")])
def test_null_score_diff_threshold_decides_on_no_answer(
    tmp_path, tokenizer, threshold, answer
):
    examples, features = create_windows(tmp_path, tokenizer, "a b")
    best = [("b", 2), ("[CLS]", 3)]
    options = {"n_best_size": 12, "version_2_with_negative": True}
    options["null_score_diff_threshold"] = threshold
    answers = decode_answers(examples, features, best, **options)
    assert answers.texts == {"q0": answer}
    assert answers.null_odds == {"q0": 1.0}


@pytest.mark.parametrize("context", ["", " \t", "\x01 \u200d"])
def test_passages_without_a_wordpiece_have_no_answer(
    tmp_path, tokenizer, context
):
    examples, features = create_windows(tmp_path, tokenizer, context)
    assert not features
    unanswered = decode_answers(examples, [], [])
    assert unanswered.texts == {"q0": "empty"}
    assert len(unanswered.nbest["q0"]) == 1
    answers = decode_answers(examples, [], [], version_2_with_negative=True)
    assert answers.texts == {"q0": ""}


def test_char_offsets_cut_answers_from_text_without_spaces(tmp_path, tokenizer):
    examples, features = create_windows(
        tmp_path, tokenizer, " 黑豹队了丢了分。", use_char_offsets=True
    )
    answers = decode_answers(examples, features, [("豹", 5), ("队", 5)])
    assert answers.texts == {"q0": "豹队"}


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("b", "##e", "B\u0301de\u0301"),
        ("##d", "##d", "d"),
        ("##e", "##e", "e\u0301"),
    ],
)
def test_char_offsets_cut_answers_with_their_accents(
    tmp_path, tokenizer, first, last, text
):
    examples, features = create_windows(
        tmp_path,
        tokenizer,
        "a. B\u0301de\u0301! Ünd, c",
        use_char_offsets=True,
    )
    answers = decode_answers(examples, features, [(first, 5), (last, 5)])
    assert answers.texts == {"q0": text}


def test_a_long_word_is_normalized_once_for_all_its_spans(tmp_path, tokenizer):
    texts = []

    class Counting(tokenization.BasicTokenizer):
        def tokenize(self, text):
            texts.append(text)
            return super().tokenize(text)

    word = "." * 400
    examples, features = create_windows(tmp_path, tokenizer, f"a {word} b")
    options = {"n_best_size": 20, "max_answer_length": 3}
    answers = decode_answers(examples, features, [], Counting(), **options)
    listed = {entry["text"] for entry in answers.nbest["q0"]}
    assert {".", "..", "..."} < listed
    assert texts.count(word) == 1
