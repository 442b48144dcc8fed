"""Checks the labels of a task before a model is trained with them."""


def is_label(text: str) -> bool:
    """Returns whether a label can be a line of labels.txt, in UTF-8."""
    has_surrogate = any("\ud800" <= char <= "\udfff" for char in text)
    return text.splitlines() == [text] and not has_surrogate


def check_labels(labels: list[str], which: str, fewest: int = 2) -> None:
    """Checks that labels can be written, and that a model can separate them.

    Args:
        labels: the labels.
        which: where they are from, such as "of the train set".
        fewest: minimum number of labels.

    Raises:
        ValueError: there are too few, one occurs twice or is empty, or one
            cannot be written to labels.txt.
    """
    if len(set(labels)) < len(labels) or not all(map(is_label, labels)):
        raise ValueError(
            f"the labels {which} must be distinct, not empty, and on one line "
            f"each. Received: {labels}"
        )
    if len(labels) < fewest:
        raise ValueError(
            f"the task needs {fewest} labels or more. The labels {which} are "
            f"{labels}"
        )
