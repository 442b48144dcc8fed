"""Converts the label of a regression to a number."""

import contextlib
from typing import SupportsFloat

import numpy as np

from data.classification.classification_examples import Label


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
