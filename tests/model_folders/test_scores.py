"""Which scores are of one label, and which labels are missed."""

from model_folders.scores import (
    LABEL_SCORES,
    list_missed_labels,
    overall_scores,
)


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
    assert list_missed_labels(scores) == ["spam"]


def test_a_label_without_rows_is_not_missed():
    scores = label_scores("spam", f1=0.0, support=0.0)
    assert list_missed_labels(scores) == []
