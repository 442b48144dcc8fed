"""Converts the label of an example to the ids that its record contains."""

from collections.abc import Sequence

from data.classification.classification_examples import Label
from data.classification.regression_labels import regression_value_of


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
