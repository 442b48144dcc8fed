"""Converts labels to numbers: names to ids, and the labels of regressions.

labels/ converts the cells of tables to labels, and a model's outputs to labels.
"""

import contextlib
from collections.abc import Sequence
from typing import SupportsFloat

import numpy as np

from data.classification.classification_examples import Label


def encode_label(
    label: Label | None, label_list: Sequence[str] | None
) -> int | float | list[int] | None:
    """Converts an example's label to the value that its record contains.

    Examples:
        A label becomes its index, a list of labels becomes 0 or 1 for each
        label, and the label of a regression becomes a number:

        >>> encode_label("spam", ["ham", "spam"])
        1
        >>> encode_label(["ham"], ["ham", "spam"])
        [1, 0]
        >>> encode_label("2.5", None)
        2.5

    Args:
        label: the label. None = unknown, and so is the result.
        label_list: names of all labels, None in regression.
    """
    if label is None:
        return None
    if label_list is None:
        return regression_value_of(label)
    if isinstance(label, list):
        return [int(name in label) for name in label_list]
    return label_list.index(label)


def parse_regression_label(value: object, where: str) -> float:
    """Converts the label of a regression task, such as "2.5", to a number.

    `value` is a cell of a table, of any type.

    Raises:
        ValueError: the label is not a finite number. The message begins with
            `where`, such as the file and the line.
    """
    rating = np.nan
    # float() would convert True, False and "1_000".
    is_odd = isinstance(value, bool) or "_" in str(value)
    if isinstance(value, str | bytes | SupportsFloat) and not is_odd:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            rating = float(value)
    if not abs(rating) <= np.finfo(np.float32).max:
        raise ValueError(
            f"{where}: in regression the label must be a finite number. "
            f"Received: {str(value)[:80]!r}"
        )
    return rating


def regression_value_of(label: Label) -> float:
    """Returns the label of a regression as a number.

    Raises:
        ValueError: the label is neither a number nor the text of a number.
    """
    if isinstance(label, list):
        raise ValueError(f"{label!r} is not the label of a regression")
    return float(label)
