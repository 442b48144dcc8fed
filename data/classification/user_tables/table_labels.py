"""Collects and checks the labels of a task in a user's own tables.

Flags or the rows of the train set name the labels. Checks find a column that
contains no labels, and warnings name labels that are rare or misspelled.
"""

import collections
import itertools
from collections.abc import Iterable, Sequence

from absl import logging

from data.classification.classification_examples import (
    InputExample,
    class_names_of,
)
from data.classification.user_tables import label_notations
from data.sets.label_spelling import describe_misspelled_labels
from data.tables import column_names
from files.paths import StrPath
from model_folders.labels import check_labels, describe_labels
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)

# {output mode: the least number of labels}.
_MIN_LABELS: dict[OutputMode, int] = {
    CLASSIFICATION: 2,
    MULTILABEL: 1,
    REGRESSION: 0,
}
# A label with fewer rows is hardly learned.
_MIN_ROWS_OF_LABEL = 5
# If a column contains more values than this, and each value is in fewer than
# three rows on average, then the values are no labels.
_MAX_RARE_LABELS = 10


def choose_labels_of_flags(
    labels: Sequence[str] | None,
    output_mode: OutputMode,
    label_columns: Sequence[str],
) -> list[str]:
    """Returns the labels that --labels or several label columns name.

    The labels are in the order of the model's outputs. The result is [] if only
    the rows name the labels, or if the task is a regression.

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
    names = [
        label_notations.convert_label(label, "--labels")
        for label in labels or ()
    ]
    if labels is not None:
        check_labels(names, "--labels", min_labels=_MIN_LABELS[output_mode])
    if output_mode == REGRESSION:
        # A regression has no labels, whatever --labels names.
        return []
    return names


def list_labels(
    examples: Iterable[InputExample], output_mode: OutputMode, source: str
) -> list[str]:
    """Returns the labels of examples, in alphabetical order.

    Args:
        examples: the train set, and the dev set if it is of the same file,
            because it may have more labels.
        output_mode: "classification" or "multilabel".
        source: the train set, for the error.

    Raises:
        ValueError: the examples contain too few labels.
    """
    labels = sorted(count_labels(examples))
    check_labels(labels, source, min_labels=_MIN_LABELS[output_mode])
    return labels


def check_label_column(
    source: StrPath, column: str, examples: Sequence[InputExample]
) -> None:
    """Checks that the column of a train set contains labels.

    Args:
        source: the file, for the error.
        column: value of --label_column, for the error.
        examples: the examples of the file, whose rows name the labels.

    Raises:
        ValueError: the column looks like texts, numbers, vectors of 0 and 1, or
            like a column whose first line is its name.
    """
    counts = count_labels(examples)
    labels = (example.label for example in examples)
    widths = {len(label) for label in labels if isinstance(label, list)}
    is_vector = len(widths - {0}) == 1 and max(widths) > 1
    if is_vector and {"0", "1"}.issuperset(counts):
        raise label_notations.vector_error(str(source), examples[0].label)
    if len(counts) > max(_MAX_RARE_LABELS, len(examples) / 3):
        first_names = ", ".join(map(repr, itertools.islice(counts, 3)))
        raise ValueError(
            f"{source}: --label_column={column} "
            f"contains {len(counts)} labels in {len(examples)} rows, such "
            f"as {first_names}. Choose the column of the labels, or set "
            "--labels, or for numbers --output_mode=regression"
        )
    for name in count_labels(examples[:1]):
        if counts[name] == 1 and name.casefold() in column_names.LABEL_NAMES:
            raise ValueError(
                f"{source}: line 1 contains the label {name!r}. If the "
                "line names the columns, set --text_column and "
                "--label_column to these names"
            )


def log_label_counts(
    labels: Sequence[str], train: Iterable[InputExample]
) -> None:
    """Logs how many examples of a train set each label has."""
    counts = count_labels(train)
    descriptions = [f"{name} {counts[name]}" for name in labels]
    logging.info("Labels of the train set: %s", describe_labels(descriptions))


def warn_of_labels(
    train: Iterable[InputExample], dev: Iterable[InputExample] = ()
) -> None:
    """Warns of labels that are rare or misspelled.

    `dev` contains examples of the same file, which may have more labels.
    """
    train_counts = count_labels(train)
    # A warning of the split names labels without a row to train on.
    rare = [
        name
        for name, num_rows in train_counts.items()
        if num_rows < _MIN_ROWS_OF_LABEL
    ]
    if rare:
        logging.warning(
            "%d labels have fewer than %d rows to train on: %s",
            len(rare),
            _MIN_ROWS_OF_LABEL,
            describe_labels(rare),
        )
    if typos := describe_misspelled_labels(train_counts + count_labels(dev)):
        logging.warning(
            "These labels may be misspelled: %s. Correct the data if they mean "
            "the same.",
            describe_labels(typos),
        )


def warn_of_joined_labels(
    source: str, labels: Sequence[str], separator: str
) -> None:
    """Warns if a label consists of other labels.

    Such a label shows that --label_separator is not the text between the labels
    of a cell.

    Args:
        source: the train set, for the message.
        labels: the labels, in alphabetical order.
        separator: value of --label_separator.
    """
    marks = {*",;|\t"} - {separator}
    for label, mark in itertools.product(labels, sorted(marks)):
        parts = {part.strip() for part in label.split(mark)}
        if len(parts) > 1 and parts <= {*labels}:
            logging.warning(
                "%s: the label %r consists of other labels. If %r "
                "separates labels, set --label_separator",
                source,
                label,
                mark,
            )
            return


def count_labels(examples: Iterable[InputExample]) -> collections.Counter[str]:
    """Returns {label: number of examples that have it}."""
    labels = (example.label for example in examples)
    names = (class_names_of(label) for label in labels if label is not None)
    return collections.Counter(itertools.chain.from_iterable(names))
