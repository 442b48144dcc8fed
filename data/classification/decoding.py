"""Decodes classifier outputs and writes prediction files.

B = batch, L = labels.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from absl import logging

from data.classification.examples import InputExample
from files.atomic import atomic_open
from files.json_files import format_json
from files.paths import StrPath
from files.run_files import register

register(
    *("test_results.tsv", "test_results_mm.tsv"),
    *("predictions.jsonl", "predictions_mm.jsonl"),
    are_results=True,
)

# One example's label: a name, several names, or a number.
Label = str | list[str] | float


class LabelDecoder:
    """Turns a classifier's outputs into labels.

    Args:
        output_mode: "classification" (one label for each text), "multilabel"
            (any number of labels) or "regression" (a number).
        label_list: names of the labels, or None in regression.

    Attributes:
        temperature: number by which `probabilities` divides the logits.
        thresholds: {label: probability above which a text gets the label} in
            multi-label classification. None means 0.5 for each label.
    """

    def __init__(self, output_mode: str, label_list: list[str] | None) -> None:
        self.output_mode = output_mode
        self.label_list = label_list
        self._names = label_list or []
        self.temperature = 1.0
        self.thresholds: dict[str, float] | None = None

    @property
    def num_outputs(self) -> int:
        """Number of outputs of the network: L, or 1 in regression."""
        return len(self.label_list) if self.label_list else 1

    def predictions(self, outputs: np.ndarray) -> np.ndarray:
        """Converts outputs to predictions in the form of a record's label_ids.

        Args:
            outputs: logits, float [B, L], or values [B, 1] in regression.

        Returns:
            label indices, int [B]. In multi-label classification, 0 or 1 for
            each label, int [B, L]. In regression, values, float [B].
        """
        if self.output_mode == "regression":
            return outputs[:, 0]
        if self.output_mode == "multilabel" and self.thresholds:
            limits = [self.thresholds[name] for name in self._names]
            return (self.probabilities(outputs) > limits).astype(np.int64)
        if self.output_mode == "multilabel":
            return (outputs > 0).astype(np.int64)
        return np.argmax(outputs, axis=-1)

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """Computes probabilities, float32 [B, L], or values in regression.

        In regression, the function returns the outputs [B, 1] as float32.
        """
        # Import SciPy late, because it needs half a second to load, and --help
        # should not wait for it.
        from scipy import special

        outputs = outputs.astype(np.float32)
        if self.output_mode == "regression":
            return outputs
        if self.temperature != 1:
            outputs = outputs / np.float32(self.temperature)
        if self.output_mode == "multilabel":
            return special.expit(outputs)
        return special.softmax(outputs, axis=-1)

    def label_ids(self, labels: Sequence) -> np.ndarray:
        """Converts labels to an array in the form of `label_ids` in records.

        Args:
            labels: list of labels, as the method `labels` returns it.

        Returns:
            label indices [B]. In multi-label classification, 0 or 1 for each
            label [B, L]. In regression, values [B].
        """
        if self.output_mode == "regression":
            return np.array(labels, np.float32)
        if self.output_mode == "multilabel":
            return np.array(
                [[int(name in row) for name in self._names] for row in labels]
            )
        return np.array([self._names.index(label) for label in labels])

    def labels(self, outputs: np.ndarray) -> list[Label]:
        """Returns each example's predicted label: str, list of str or float."""
        predictions = self.predictions(outputs)
        if self.output_mode == "regression":
            return predictions.tolist()
        if self.output_mode == "multilabel":
            return [
                [self._names[index] for index in np.flatnonzero(row)]
                for row in predictions
            ]
        return [self._names[index] for index in predictions]


def describe_example(example: InputExample, has_label: bool) -> dict[str, Any]:
    """Returns the fields of an example in predictions.jsonl.

    `has_label` is true if the example's label is real, and not a placeholder. A
    real label becomes the field `gold_label`, unless it is None.
    """
    entry: dict[str, Any] = {"guid": example.guid, "text_a": example.text_a}
    if example.text_b is not None:
        entry["text_b"] = example.text_b
    if has_label and example.label is not None:
        entry["gold_label"] = example.label
    return entry


def write_predictions(
    output_dir: StrPath,
    entries: Iterable[dict[str, Any]],
    batches: Iterable[tuple[Any, np.ndarray]],
    decoder: LabelDecoder,
    suffix: str = "",
) -> list[Label]:
    """Writes test_results.tsv and predictions.jsonl.

    test_results.tsv is the file that Google's code writes: a line for each
    example, and a column for each label. A line of predictions.jsonl contains
    the example's entry, the predicted `label` and, except in regression,
    `probabilities` by label.

    `entries` are the fields of each example, such as `describe_example`
    returns. Each batch is a pair (features, outputs) with the model's outputs,
    float [B, L]. The files' names end in `suffix` and the extension.

    Returns:
        the predicted labels, in the form of `LabelDecoder.labels`.

    Raises:
        OSError: a file cannot be written.
        ValueError: an output is not finite.
    """
    table_file = os.path.join(output_dir, f"test_results{suffix}.tsv")
    json_file = os.path.join(output_dir, f"predictions{suffix}.jsonl")
    entries, labels = iter(entries), []
    with atomic_open(table_file) as table, atomic_open(json_file) as lines:
        for _, outputs in batches:
            rows = decoder.probabilities(outputs)
            for row, label in zip(rows, decoder.labels(outputs), strict=True):
                labels.append(label)
                cells = "\t".join(str(value) for value in row)
                table.write(f"{cells}\n".encode())
                entry = next(entries) | {"label": label}
                if decoder.label_list:
                    entry["probabilities"] = dict(
                        zip(decoder.label_list, row.tolist(), strict=True)
                    )
                where = f"{json_file}, line {len(labels)}"
                line = format_json(entry, where, ensure_ascii=False)
                # UTF-8 cannot encode a lone surrogate, so write it as \uXXXX,
                # as in the input.
                lines.write(f"{line}\n".encode(errors="backslashreplace"))
    logging.info(
        "Wrote %d predictions to %s and %s", len(labels), table_file, json_file
    )
    return labels
