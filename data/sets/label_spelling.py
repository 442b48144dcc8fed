"""Finds labels that differ only in their spelling, or may be misspelled."""

import itertools
import unicodedata
from collections.abc import Mapping, Sequence


def list_similar_labels(labels: Sequence[str]) -> list[list[str]]:
    """Returns groups of labels that differ only in their spelling.

    Labels of a group differ in upper and lower case, in their Unicode
    normalization, in white space or in invisible characters.

    Examples:
        >>> list_similar_labels(["Ham", "ham", "spam"])
        [['Ham', 'ham']]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        key = unicodedata.normalize("NFKC", label).casefold()
        key = "".join(
            character
            for character in key
            if unicodedata.category(character) != "Cf"
        )
        groups.setdefault(" ".join(key.split()), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def describe_misspelled_labels(counts: Mapping[str, int]) -> list[str]:
    """Returns descriptions of rare labels that may be misspelled.

    Such a label has at most 2 rows, and differs in one letter from a label of
    at least 20 rows. Short labels and labels with digits are not compared.
    `list_similar_labels` finds labels that differ only in case.

    Args:
        counts: {label: number of its rows}.
    """
    compared = {
        label: label.casefold()
        for label in counts
        if len(label) > 4 and not any(map(str.isdigit, label))
    }
    frequent = [label for label in compared if counts[label] >= 20]
    rare = [label for label in compared if counts[label] <= 2]
    return [
        f"{label!r} ({counts[label]}), like {other!r} ({counts[other]})"
        for label in rare
        for other in frequent
        if _differ_in_one_letter(compared[label], compared[other])
    ]


def _differ_in_one_letter(first: str, second: str) -> bool:
    """Returns whether one letter is replaced, added or left out."""
    if first == second:
        return False
    # What follows the common beginning of the two labels.
    pairs = zip(first, second, strict=False)
    equal = itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
    start = len([*equal])
    rest = first[start:]
    other_rest = second[start:]
    is_replaced = rest[1:] == other_rest[1:]
    return is_replaced or rest[1:] == other_rest or rest == other_rest[1:]
