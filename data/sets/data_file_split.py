"""Splits the examples of one file into a train set and a dev set.

text_keys.py decides which set an example is in.
"""

import collections
from collections.abc import Sequence, Sized
from typing import TypeVar

from absl import logging

from data.sets.text_keys import split_fraction_of
from model_folders.labels import join_first

T = TypeVar("T")


def split_examples(
    path: str, examples: Sequence[T], keys: Sequence[str], fraction: float
) -> tuple[list[T], list[T]]:
    """Returns the train set and the dev set of a file.

    Args:
        path: value of --data_file, for the error.
        examples: the examples of all its rows.
        keys: key of each example. Equal keys are in the same set.
        fraction: value of --dev_fraction.

    Raises:
        ValueError: one of the sets is empty.
    """
    train: list[T] = []
    dev: list[T] = []
    for example, key in zip(examples, keys, strict=True):
        is_dev = split_fraction_of(key) < fraction
        (dev if is_dev else train).append(example)
    for name, set_examples in (("train", train), ("dev", dev)):
        if not set_examples:
            raise ValueError(
                f"{path}: with --dev_fraction={fraction:g}, none of the "
                f"{len(examples)} rows is in the {name} set. Add rows, set "
                "another --dev_fraction, or make the sets yourself "
                "(--data_dir)"
            )
    return train, dev


def log_sizes(path: str, train: Sized, dev: Sized) -> None:
    """Logs how many examples of a file are in its two sets."""
    logging.info(
        "%s: %d examples to train on, %d for the dev set",
        path,
        len(train),
        len(dev),
    )


def log_label_split(
    path: str, train: collections.Counter[str], dev: collections.Counter[str]
) -> None:
    """Logs how many rows of each label are in the two sets of a file.

    Warns of labels that one of the sets lacks.
    """
    labels = sorted(train | dev)
    if not labels:
        return
    descriptions = [
        f"{label} {train[label]} + {dev[label]}" for label in labels
    ]
    logging.info(
        "Labels to train on and in the dev set: %s",
        join_first(descriptions),
    )
    lacks = [
        f"the {name} set has none of {join_first(missing)}"
        for name, counts in (("dev", dev), ("train", train))
        if (missing := [label for label in labels if not counts[label]])
    ]
    if lacks:
        logging.warning(
            "%s: %s. Add rows of these labels, or make the sets yourself "
            "(--data_dir).",
            path,
            ", and ".join(lacks),
        )
