"""Checks that each label of a model can be a line of labels.txt."""

import unicodedata
from collections.abc import Sequence

# {value of --output_mode: value of `problem_type` in transformers}.
PROBLEM_TYPES = {
    "classification": "single_label_classification",
    "multilabel": "multi_label_classification",
    "regression": "regression",
}


def is_label(label: object) -> bool:
    """Returns whether a label can be a line of labels.txt."""
    return isinstance(label, str) and label.splitlines() == [label]


def first_labels(labels: Sequence[str]) -> str:
    """Joins the first ten labels for a message, which should not be long."""
    more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
    return ", ".join(labels[:10]) + more


def similar_labels(labels: Sequence[str]) -> list[list[str]]:
    """Returns groups of labels that differ only in their spelling.

    Labels of a group differ in upper and lower case, in their Unicode
    normalization, in white space or in invisible characters.
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        key = unicodedata.normalize("NFKC", label).casefold()
        key = "".join(c for c in key if unicodedata.category(c) != "Cf")
        groups.setdefault(" ".join(key.split()), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def check_labels(
    labels: Sequence[str],
    where: str = "`labels`",
    num_labels: int | None = None,
    fewest: int = 0,
) -> None:
    """Checks that labels differ, and that each can be a line of labels.txt.

    Args:
        labels: the labels, in the order of the model's outputs.
        where: beginning of the error message: the flag or the file that
            contains the labels.
        num_labels: number of the model's outputs. None skips this check.
        fewest: minimum number of labels.

    Raises:
        ValueError: a label is not text, is empty, contains a line end or occurs
            twice, or the number of labels is wrong.
    """
    for number, label in enumerate(labels, start=1):
        if not is_label(label) or label in labels[: number - 1]:
            raise ValueError(
                f"{where}: label {number}, {label!r}, is not a string, is "
                "empty, contains a line end or occurs twice"
            )
    if len(labels) < fewest or num_labels not in (None, len(labels)):
        expected = f"{fewest} labels or more" if fewest else f"{num_labels}"
        raise ValueError(
            f"{where} must name {expected}. Received {len(labels)}: "
            f"{list(labels)}"
        )
