"""Finds and checks the similarity scores of pairs of texts.

A row of a user's table is such a pair if --task_name is embedding: two texts
and, optionally, their similarity. The similarity is a score in the column
"score", or in the column that --label_column names. If the table contains only
the two texts, or the flag is empty, the two texts of each row count as similar.
"""

from collections.abc import Collection, Iterable, Sequence

from data.classification.classification_examples import (
    InputExample,
    convert_regression_label,
)
from files.paths import StrPath

# The largest score of STS-B's scale from 0 to 5.
_MAX_SCORE = 5.0


def check_score_column(
    source: StrPath | None,
    label_column: str,
    other_columns: Collection[str],
    pairs: Iterable[InputExample],
) -> None:
    """Checks that no column can contain scores if the pairs have none.

    Args:
        source: folder or table of the pairs, for the message.
        label_column: value of --label_column.
        other_columns: the table's columns but those of the two texts.
        pairs: the pairs of the table.

    Raises:
        ValueError: the table lacks the column "score", but other columns may
            contain scores.
    """
    if any(pair.label is not None for pair in pairs):
        return
    if label_column and other_columns:
        raise ValueError(
            f"{source}: set --label_column to the column of the scores, or to "
            "nothing if the two texts of each row are similar. The other "
            f"columns are {sorted(other_columns)}"
        )


def are_scored(pairs: Sequence[InputExample]) -> bool:
    """Returns whether the pairs of a train set or a dev set have scores.

    All of them have scores, or none, as `ParsedRows.without_unscored` returns
    them.
    """
    return pairs[0].label is not None


def guess_max_score(examples: Iterable[InputExample]) -> float:
    """Returns the largest score of the scale that the labels use, 5 or 1.

    If any score is above 1, the scale ends at 5, as in STS-B.
    """
    return _MAX_SCORE if max(_gold_scores(examples), default=0) > 1 else 1.0


def check_scale(
    set_name: str, examples: Iterable[InputExample], max_score: float
) -> None:
    """Checks that the labels of a set are on a scale.

    `max_score` is the largest score of the scale, and `set_name` is for the
    error.

    Raises:
        ValueError: a score is not on the scale.
    """
    scores = _gold_scores(examples)
    least, largest = min(scores, default=0.0), max(scores, default=0.0)
    if least < -1 or largest > max_score:
        raise ValueError(
            f"the scores of the {set_name} set are from {least:g} to "
            f"{largest:g}. All sets must use the same scale, either from "
            "0 to 5 or from -1 to 1"
        )


def _gold_scores(examples: Iterable[InputExample]) -> list[float]:
    labels = [example.label for example in examples]
    return [
        convert_regression_label(label) for label in labels if label is not None
    ]
