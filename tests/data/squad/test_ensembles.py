"""The n-best lists of an ensemble, against an independent average."""

import numpy as np
import pytest

from data.squad import answers as squad_answers
from data.squad import decoding

TEXTS = ["", "the keeper", "Anna", "a boat", "noon", "the harbour", "rain"]


def random_members(seed, count, is_v2):
    """Returns n-best lists as models of random scores would give them."""
    rng = np.random.default_rng(seed)
    members = []
    for _ in range(count):
        lists = {}
        for question in ("q1", "q2", "q3"):
            texts = list(rng.permutation(TEXTS[1:])[:4]) + [""] * is_v2
            scores = rng.normal(size=len(texts)) * 3
            order = np.argsort(-scores)
            probabilities = np.exp(scores) / np.exp(scores).sum()
            lists[question] = [
                {
                    "text": str(texts[i]),
                    "probability": float(probabilities[i]),
                    "start_logit": float(scores[i] / 4),
                    "end_logit": float(scores[i] * 3 / 4),
                }
                for i in order
            ]
        members.append(lists)
    return members


def table(members, question):
    """Returns float [models, texts] of the probabilities."""
    found = np.zeros((len(members), len(TEXTS)))
    for row, member in zip(found, members, strict=True):
        for entry in member[question]:
            row[TEXTS.index(entry["text"])] += entry["probability"]
    return found


@pytest.mark.parametrize("is_v2", [False, True])
@pytest.mark.parametrize("seed, count", [*((i, 3) for i in range(5)), (9, 1)])
def test_probabilities_are_the_mean_of_the_models(seed, count, is_v2):
    members = random_members(seed, count, is_v2)
    options = decoding.DecodingOptions(
        n_best_size=7, version_2_with_negative=is_v2
    )
    answers, nbest, null_odds = squad_answers.average_nbest(members, options)
    for question, entries in nbest.items():
        mean = table(members, question).mean(axis=0)
        found = [entry["probability"] for entry in entries]
        assert found == sorted(found, reverse=True)
        assert found == pytest.approx(sorted(mean[mean > 0])[::-1])
        assert sum(found) == pytest.approx(1)
        for entry in entries:
            text = entry.pop("text")
            probability = entry.pop("probability")
            assert probability == pytest.approx(mean[TEXTS.index(text)])
            for name, value in entry.items():
                values = [
                    each[name]
                    for member in members
                    for each in member[question]
                    if each["text"] == text
                ]
                assert value == pytest.approx(np.mean(values))
        if not is_v2:
            assert answers[question] == TEXTS[np.argmax(mean)]
            continue
        best = 1 + np.argmax(mean[1:])
        odds = np.log(mean[0] / mean[best])
        assert null_odds[question] == pytest.approx(odds)
        assert answers[question] == ("" if odds > 0 else TEXTS[best])
    assert null_odds or not is_v2


def test_the_list_is_cut_but_for_no_answer():
    members = random_members(3, 4, True)
    options = decoding.DecodingOptions(
        n_best_size=2, version_2_with_negative=True
    )
    _, nbest, _ = squad_answers.average_nbest(members, options)
    for entries in nbest.values():
        texts = [entry["text"] for entry in entries]
        assert "" in texts and len(texts) in (2, 3)


def test_a_question_without_any_candidate():
    empty = {"text": "", "start_logit": 0.0, "end_logit": 0.0}
    members = [{"q": [empty | {"probability": 1.0}]}] * 2
    options = decoding.DecodingOptions(version_2_with_negative=True)
    answers, _, null_odds = squad_answers.average_nbest(members, options)
    assert answers == {"q": ""}
    assert null_odds == {"q": decoding.NO_ANSWER_SCORE_DIFF}
