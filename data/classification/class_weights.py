"""Weights of classes in the loss, for classes of unequal size."""

import collections
import os
from collections.abc import Iterable, Sequence
from typing import Any

from absl import logging

from files import json_files

BALANCED = "balanced"
# Within these, loss and gradient stay finite in float32.
_SMALLEST, _LARGEST = 1e-6, 1e6


def check(setting: str, output_mode: str) -> None:
    """Refuses an invalid --class_weights, before any work.

    Raises:
        ValueError: it is empty, or the task does not predict classes.
        OSError: there is no such file.
    """
    if not setting.strip():
        raise ValueError(
            "--class_weights= is empty (was a shell variable not set?); give "
            f"{BALANCED} or a file, or leave the flag out"
        )
    if output_mode != "classification":
        raise ValueError(
            "--class_weights is for --output_mode=classification. "
            f"Received: {output_mode}"
        )
    if setting != BALANCED and not os.path.isfile(setting):
        raise FileNotFoundError(
            f"--class_weights={setting} is neither {BALANCED} nor a file"
        )


def create(
    setting: str, labels: Sequence[str] | None, example_labels: Iterable[Any]
) -> dict[str, float]:
    """Returns and logs {label: weight} of "balanced", or of a JSON file.

    Balanced weights give every class the same total weight. A class gets
    N / (L * n): N examples, L labels, n examples of the class.
    """
    labels = labels or []
    if setting == BALANCED:
        counts = collections.Counter(example_labels)
        total, number = counts.total(), len(labels)
        weights = {
            name: total / (number * max(counts[name], 1)) for name in labels
        }
    else:
        weights = dict(zip(labels, read(setting, labels), strict=True))
    logging.info("Weights of the classes: %s", weights)
    return weights


def read(path: str, labels: Sequence[str]) -> list[float]:
    """Reads the weights of labels from a JSON file, {"label": weight}.

    Raises:
        ValueError: it is not such a file, a label is missing or unknown, or a
            weight is not between 1e-6 and 1e6.
        OSError: it cannot be read.
    """
    weights = json_files.read_json(path)
    unknown = [name for name in weights if name not in labels]
    missing = [name for name in labels if name not in weights]
    if unknown or missing:
        raise ValueError(
            f"{path} must have a weight for each of the labels {list(labels)}. "
            f"Received: {list(weights)}"
        )
    for name, weight in weights.items():
        is_number = type(weight) in (int, float)
        if not is_number or not _SMALLEST <= weight <= _LARGEST:
            raise ValueError(
                f"{path}: the weight of {name!r} must be a number above 0, "
                f"from 1e-6 to 1e6. Received: {repr(weight)[:80]}"
            )
    return [float(weights[name]) for name in labels]
