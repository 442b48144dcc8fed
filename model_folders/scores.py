"""The scores in the folder of a run: their files, and which are of one label.

data/ computes the scores, training/ writes them to the files, and cards/ shows
them in the README.md of the folder.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar

# Files of a run with the scores of its model, and of the model's export.
DEV_RESULTS: Final = "eval_results.txt"
EXPORT_RESULTS: Final = "export_eval_results.txt"
LABEL_SCORES = ("precision", "recall", "f1", "support")
# Matches the name of a label's score, with or without a split's suffix.
_LABEL_SCORE_NAME = re.compile(rf"(.+)_({'|'.join(LABEL_SCORES)})((?:_\w+)?)")
# {name: score}
Scores: TypeAlias = dict[str, float]
# A score, or None in a history, where JSON has no NaN.
ScoreT = TypeVar("ScoreT")


def split_by_label(
    scores: Mapping[str, ScoreT],
) -> tuple[dict[str, ScoreT], dict[str, dict[str, ScoreT]]]:
    """Returns the overall scores, and {label: scores of the label}.

    Args:
        scores: {name: score}. LABEL_precision, LABEL_recall, LABEL_f1
            and LABEL_support are the scores of one label.
    """
    matches = {name: _LABEL_SCORE_NAME.fullmatch(name) for name in scores}
    by_label: dict[str, dict[str, ScoreT]] = {}
    for name, match in matches.items():
        if match:
            scores_of_label = by_label.setdefault(match[1] + match[3], {})
            scores_of_label[match[2]] = scores[name]
    # Only a label's scores include all rates. SQuAD's HasAns_f1, for
    # example, is not the score of a label.
    by_label = {
        label: scores_of_label
        for label, scores_of_label in by_label.items()
        if len(scores_of_label) == len(LABEL_SCORES)
    }
    overall = {
        name: scores[name]
        for name, match in matches.items()
        if not (match and match[1] + match[3] in by_label)
    }
    return overall, by_label


def overall_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """Returns the scores of all labels together, without the step."""
    overall, _ = split_by_label(scores)
    return {name: overall[name] for name in overall if name != "global_step"}


def list_missed_labels(scores: Mapping[str, float]) -> list[str]:
    """Returns the labels that the model never predicted correctly."""
    _, by_label = split_by_label(scores)
    return [
        label
        for label, scores_of_label in by_label.items()
        if scores_of_label["support"] and not scores_of_label["f1"]
    ]
