"""Reads the label of a row from the cells of its label columns."""

import itertools
from collections.abc import Sequence

from data.classification.classification_examples import (
    Label,
    class_names_of,
    parse_regression_label,
)
from data.classification.user_tables import label_notations
from model_folders.labels import format_first_labels
from model_folders.model_json_types import OutputMode

# {cell in a column for one label: whether the text has this label}.
_ONE_HOT = {"0": False, "1": True, "false": False, "true": True}


def parse_row_label(
    cells: Sequence[object],
    where: str,
    *,
    output_mode: OutputMode,
    separator: str,
    names: Sequence[str] | None = None,
) -> Label | None:
    """Converts the cells of a row's label columns to its label.

    In multi-label classification an empty cell is an empty list of labels, not
    an unknown label.

    Args:
        cells: the cells, one or more. Several cells contain 0 or 1 for each of
            `names`.
        where: the place of the cells, for the error.
        output_mode: "classification", "multilabel" or "regression".
        separator: text between two labels of a cell, in multi-label
            classification.
        names: the labels of the task, None = the rows of this set name them.

    Returns:
        the label, or None if it is unknown.

    Raises:
        ValueError: a cell contains no label, or a label that is not in `names`.
    """
    if output_mode == "multilabel" and len(cells) == 1:
        label: Label | None = label_notations.parse_label_list(
            cells[0], separator, where
        )
    elif any(map(label_notations.is_empty, cells)):
        return None
    elif output_mode == "regression":
        label = parse_regression_label(cells[0], where)
    elif len(cells) == 1:
        label = label_notations.parse_label(cells[0], where, names or ())
    else:
        label = _parse_one_hot(cells, where, names or ())
    if label is not None and names is not None:
        _check_is_allowed(label, where, names)
    return label


def _parse_one_hot(
    cells: Sequence[object], where: str, names: Sequence[str]
) -> list[str]:
    """Returns those of `names` whose cell contains 1 or true.

    Raises:
        ValueError: a cell contains another value than 0, 1, false and true.
    """
    has_label = [
        _ONE_HOT.get(label_notations.convert_label(cell, where))
        for cell in cells
    ]
    if None in has_label:
        raise ValueError(
            f"{where}: each of these columns must contain 0 or 1. "
            f"Received: {cells}"
        )
    return [*itertools.compress(names, has_label)]


def _check_is_allowed(label: Label, where: str, names: Sequence[str]) -> None:
    """Raises a ValueError if a row has a label that is not one of `names`."""
    for name in class_names_of(label):
        if name not in names:
            raise ValueError(
                f"{where}: unknown label {name!r}; the labels are "
                f"{format_first_labels(names)}. Correct the line, or add "
                "the label to --labels or to the train set"
            )
