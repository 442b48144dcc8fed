"""Computes weights of the classes in the loss, if some classes are rare."""

import collections
import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

from absl import logging

from files import flags, json_files

BALANCED = "balanced"
# Range of valid weights, in which the loss and its gradient stay finite in
# float32.
_SMALLEST, _LARGEST = 1e-6, 1e6


@dataclasses.dataclass(frozen=True, kw_only=True)
class WeightOptions:
    """Option to weight the classes in a classifier's loss."""

    class_weights: str | None = flags.training(
        None,
        "Weights of the classes in the training loss. Either balanced, for the "
        "same total weight of every class, or the path of a JSON file, "
        '{"label": weight}.',
    )


def check(setting: str, output_mode: str) -> None:
    """Checks `setting`, the value of --class_weights, before training starts.

    Raises:
        ValueError: `setting` is empty, or `output_mode` is not
            "classification".
        OSError: `setting` names a file that does not exist.
    """
    if not setting.strip():
        raise ValueError(
            "--class_weights= is empty (was a shell variable not set?). Set it "
            f"to {BALANCED} or to a file, or remove the flag"
        )
    if output_mode != "classification":
        raise ValueError(
            "--class_weights is for --output_mode=classification. "
            f"Received: {output_mode}"
        )
    if setting != BALANCED and not os.path.isfile(setting):
        raise FileNotFoundError(
            f"--class_weights={setting} is neither {BALANCED} nor an existing "
            "file"
        )


def create(
    setting: str, labels: Sequence[str] | None, example_labels: Iterable[Any]
) -> dict[str, float]:
    """Computes balanced class weights, or reads weights from a JSON file.

    Balanced weights are N / (L * n), for N examples, L labels and n examples of
    a class. So the total weight of the examples of each class is N / L.

    Args:
        setting: BALANCED, or the path of the JSON file.
        labels: names of the labels.
        example_labels: label of each training example.

    Returns:
        {label: weight}.

    Raises:
        ValueError: the file's JSON is not {"label": weight}, a label is missing
            or unknown, or a weight is not between 1e-6 and 1e6.
        OSError: the JSON file cannot be read.
    """
    labels = labels or []
    if setting == BALANCED:
        counts = collections.Counter(example_labels)
        total, number = counts.total(), len(labels)
        weights = {
            name: total / (number * max(counts[name], 1)) for name in labels
        }
    else:
        found = json_files.read_json(setting)
        if found.keys() != {*labels}:
            raise ValueError(
                f"{setting} must contain a weight for each of the labels "
                f"{list(labels)}. Received weights for: {list(found)}"
            )
        for name, weight in found.items():
            is_number = type(weight) in (int, float)
            if not is_number or not _SMALLEST <= weight <= _LARGEST:
                raise ValueError(
                    f"{setting}: the weight of {name!r} must be a number from "
                    f"1e-6 to 1e6. Received: {repr(weight)[:80]}"
                )
        weights = {name: float(found[name]) for name in labels}
    logging.info("Weights of the classes: %s", weights)
    return weights
