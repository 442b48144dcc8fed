"""The scores of labels, and the names of scores in the files of runs."""

import pytest

from model_folders.scores import (
    Evaluation,
    LabelScores,
    Scores,
    merge_scores,
    parse_scores,
)

SPAM = LabelScores("spam", 0.5, 0.25, 0.3, support=3)
ENTRIES_OF_SPAM = {
    "spam_precision_mm": 0.5,
    "spam_recall_mm": 0.25,
    "spam_f1_mm": 0.3,
    "spam_support_mm": 3,
}


def test_an_entry_names_the_label_the_score_and_the_set():
    scores = Scores({"accuracy": 0.9}, [SPAM]).with_suffix("_mm")
    assert scores.to_entries() == {"accuracy_mm": 0.9, **ENTRIES_OF_SPAM}


def test_the_entries_of_an_evaluation_contain_its_step():
    evaluation = Evaluation(12, Scores({"accuracy": 0.9}))
    assert evaluation.to_entries() == {"accuracy": 0.9, "global_step": 12}


def test_entries_are_parsed_to_the_scores_that_wrote_them():
    entries = {"accuracy_mm": 0.9, **ENTRIES_OF_SPAM}
    scores = Scores({"accuracy": 0.9}, [SPAM]).with_suffix("_mm")
    assert parse_scores(entries) == scores


def test_an_incomplete_label_is_none():
    entries = {"HasAns_f1": 80.0, "HasAns_total": 5}
    assert parse_scores(entries) == Scores(entries, [])


def test_later_scores_replace_earlier_ones_of_the_same_name():
    found = LabelScores("spam", 1.0, 1.0, 1.0, support=3)
    merged = merge_scores(
        Scores({"f1": 0.3, "eval_loss": 0.7}, [SPAM]),
        Scores({"f1": 1.0}, [found]),
    )
    assert merged == Scores({"f1": 1.0, "eval_loss": 0.7}, [found])


@pytest.mark.parametrize(
    ("f1", "support", "is_missed"),
    [
        pytest.param(0.0, 3, True, id="never found"),
        pytest.param(0.5, 3, False, id="found"),
        pytest.param(0.0, 0, False, id="not in the set"),
    ],
)
def test_a_label_with_examples_that_are_not_found_is_missed(
    f1, support, is_missed
):
    assert LabelScores("spam", f1, f1, f1, support).is_missed == is_missed
