"""Tables of scores."""

from model_folders.scores import (
    LABEL_SCORES,
    find_missed_labels,
    format_scores,
    overall_scores,
)


def test_scores_of_single_labels_are_rows_of_a_table():
    scores = {
        "accuracy": 0.5,
        "global_step": 12,
        "HasAns_f1": 0.25,
        **{f"not_{rate}_mm": 0.75 for rate in LABEL_SCORES},
        **{f"a b_{rate}": 1.0 for rate in LABEL_SCORES},
        "not_support_mm": 12.0,
        "a b_support": 12,
    }
    assert format_scores(scores).splitlines() == [
        "  accuracy        0.5000",
        "  global_step         12",
        "  HasAns_f1       0.2500",
        "  label        precision     recall         f1    support",
        "  not_mm          0.7500     0.7500     0.7500         12",
        "  a b             1.0000     1.0000     1.0000         12",
    ]


def label_scores(label, f1, support):
    """Returns all scores of a label."""
    scores = dict.fromkeys(LABEL_SCORES, f1) | {"support": support}
    return {f"{label}_{name}": score for name, score in scores.items()}


def test_the_overall_scores_are_those_of_no_label_without_the_step():
    scores = {"f1_macro": 0.5, "global_step": 12.0}
    scores |= label_scores("spam", f1=0.5, support=3.0)
    assert overall_scores(scores) == {"f1_macro": 0.5}


def test_a_label_that_no_prediction_hits_is_missed():
    scores = {
        **label_scores("ham", f1=0.5, support=3.0),
        **label_scores("spam", f1=0.0, support=3.0),
    }
    assert find_missed_labels(scores) == ["spam"]


def test_a_label_without_rows_is_not_missed():
    scores = label_scores("spam", f1=0.0, support=0.0)
    assert find_missed_labels(scores) == []
