"""Writes the predictions of a run of run_classifier.py."""

import os
from collections.abc import Sequence

import numpy as np

from data.classification import decoding, features
from serving import answers
from training import task


def write_rows(
    path: str,
    examples: Sequence[features.InputExample],
    outputs: np.ndarray,
    decoder: decoding.LabelDecoder,
) -> None:
    """Writes the rows of a user's table, and the answers beside them."""
    if examples[0].row is not None:
        rows = decoding.describe_rows(examples, outputs, decoder)
        answers.write(path, "csv", [[*rows]], None)


def write(
    split: task.Split,
    outputs: np.ndarray,
    decoder: decoding.LabelDecoder,
    output_dir: str,
) -> Sequence[decoding.Label]:
    """Writes the predictions of a test set. Returns the predicted labels."""
    path = os.path.join(output_dir, "predictions.csv")
    write_rows(path, split.examples, outputs, decoder)
    return decoding.write_predictions(
        output_dir,
        decoding.describe_examples(split.examples),
        outputs,
        decoder,
        split.name.removeprefix("predict"),
    )
