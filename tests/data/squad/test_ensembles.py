"""The n-best lists of an ensemble's models become one list."""

import math

import pytest

from data.squad import decoding
from data.squad.answers import average_nbest


def entries(*values):
    names = ("text", "probability", "start_logit", "end_logit")
    return [dict(zip(names, each, strict=True)) for each in values]


def average(*lists, **options):
    """Returns the answer, the n-best list and the null odds of a question."""
    options = decoding.DecodingOptions(**options)
    members = [{"q": entries(*each)} for each in lists]
    answers, nbest, null_odds = average_nbest(members, options)
    return answers["q"], nbest["q"], null_odds.get("q")


ANNA, NOON = ("Anna", 0.5, 2.0, 1.0), ("noon", 0.3, 1.0, 0.0)
OTHERS = [
    ("noon", 0.6, 3.0, 1.0),
    ("Anna", 0.2, 0.0, 4.0),
    ("a boat", 0.2, 1, 1),
]


def test_probabilities_are_the_mean_of_the_models():
    answer, nbest, null_odds = average([ANNA, NOON, ("x", 0.2, 0, 0)], OTHERS)
    assert (answer, null_odds) == ("noon", None)
    expected = entries(
        ("noon", 0.45, 2.0, 0.5),
        ("Anna", 0.35, 1.0, 2.5),
        ("x", 0.1, 0.0, 0.0),
        ("a boat", 0.1, 1.0, 1.0),
    )
    for one, other in zip(nbest, expected, strict=True):
        assert one == pytest.approx(other)
    # One model's list stays as it is.
    assert average(OTHERS)[1] == entries(*OTHERS)


@pytest.mark.parametrize("threshold, answer", [(0.0, ""), (0.3, "noon")])
def test_no_answer_is_an_answer_among_others(threshold, answer):
    found, nbest, null_odds = average(
        [("", 0.9, 1.0, 1.0), ("Anna", 0.1, 0.0, 0.0)],
        [("noon", 0.8, 0.0, 0.0), ("", 0.1, 0.0, 0.0), ANNA[:1] + (0.1, 0, 0)],
        version_2_with_negative=True,
        null_score_diff_threshold=threshold,
    )
    assert null_odds == pytest.approx(math.log(0.5 / 0.4))
    assert found == answer
    assert [entry["text"] for entry in nbest] == ["", "noon", "Anna"]


def test_the_list_is_cut_but_for_no_answer():
    lists = [ANNA, NOON, ("x", 0.15, 0, 0), ("", 0.05, 0, 0)]
    _, nbest, _ = average(lists, n_best_size=2, version_2_with_negative=True)
    assert [entry["text"] for entry in nbest] == ["Anna", "noon", ""]
    _, nbest, _ = average(lists, n_best_size=2)
    assert [entry["text"] for entry in nbest] == ["Anna", "noon"]


def test_a_question_without_any_candidate():
    nothing = [("", 1.0, 0.0, 0.0)]
    found = average(nothing, nothing, version_2_with_negative=True)
    assert found[0] == "" and found[2] == decoding.NO_ANSWER_SCORE_DIFF
