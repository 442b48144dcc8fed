"""Names the labels of a task in a user's tables: by flags, or by the rows."""

import collections
import itertools
from collections.abc import Iterable, Sequence

from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.user_tables.label_notations import convert_label
from model_folders.labels import check_labels
from model_folders.model_json_types import OutputMode

# {output mode: the least number of labels}.
_MIN_LABELS: dict[OutputMode, int] = {
    "classification": 2,
    "multilabel": 1,
    "regression": 0,
}


def labels_of_flags(
    labels: Sequence[str] | None,
    output_mode: OutputMode,
    label_columns: Sequence[str],
) -> list[str] | None:
    """Returns the labels that --labels or several label columns name.

    The labels are in the order of the model's outputs. None = the rows name
    them (see `labels_of_examples`), or the task is a regression.

    Args:
        labels: value of --labels, None if it is not set.
        output_mode: "classification", "multilabel" or "regression".
        label_columns: columns of the labels. The names of several columns are
            the labels unless --labels is set.

    Raises:
        ValueError: the flags name too few labels, or repeat one.
    """
    if len(label_columns) > 1:
        labels = labels or label_columns
    if labels is None:
        return None
    names = [convert_label(label, "--labels") for label in labels]
    check_labels(names, "--labels", min_labels=_MIN_LABELS[output_mode])
    return names


def labels_of_examples(
    examples: Iterable[InputExample], output_mode: OutputMode, where: str
) -> list[str]:
    """Returns the labels of examples, in alphabetical order.

    Args:
        examples: the train set, and the dev set if it is of the same file,
            because it may have more labels.
        output_mode: "classification" or "multilabel".
        where: the train set, for the error.

    Raises:
        ValueError: the examples contain too few labels.
    """
    labels = sorted(count_labels(examples))
    check_labels(labels, where, min_labels=_MIN_LABELS[output_mode])
    return labels


def count_labels(examples: Iterable[InputExample]) -> collections.Counter[str]:
    """Returns {label: number of examples that have it}."""
    labels = (example.label for example in examples)
    names = (class_names_of(label) for label in labels if label is not None)
    return collections.Counter(itertools.chain.from_iterable(names))
