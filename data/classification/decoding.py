"""Turns a classifier's outputs into labels, and writes files of predictions.

Logits are divided by a temperature. In multi-label classification, a text gets
each label whose probability is above a threshold. The temperature and the
thresholds can be fitted to a dev set.
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

# Number of intervals into which `calibration` divides the probabilities.
NUM_BINS = 10

# An example's label: a name, a list of names in multi-label classification, or
# a number in regression.
Label = str | list[str] | float


class LabelDecoder:
    """Turns a classifier's outputs into probabilities and labels.

    Args:
        output_mode: "classification" (one label for each text), "multilabel"
            (any number of labels) or "regression" (a number).
        label_list: names of the labels, or None in regression.

    Attributes:
        temperature: number by which logits are divided before the softmax or
            sigmoid, 1 without --calibrate.
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
        """Number of the network's outputs: one per label, 1 in regression."""
        return len(self.label_list) if self.label_list else 1

    def predictions(self, outputs: np.ndarray) -> np.ndarray:
        """Converts the network's outputs to predicted label indices or values.

        Args:
            outputs: logits, float [examples, labels], or values [examples, 1]
                in regression.

        Returns:
            label indices, int [examples]. In multi-label classification, 0 or 1
            for each label, int [examples, labels]. In regression, predicted
            values, float [examples].
        """
        if self.output_mode == "regression":
            return outputs[:, 0]
        if self.output_mode == "multilabel":
            thresholds = self.thresholds or {}
            limits = [thresholds.get(name, 0.5) for name in self._names]
            return (self.probabilities(outputs) > limits).astype(np.int64)
        return np.argmax(outputs, axis=-1)

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """Converts logits to probabilities, float32 [examples, labels].

        In regression, `outputs` are predicted values [examples, 1], which the
        function returns as float32.
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
        """Converts the labels of examples to the numbers that records contain.

        Args:
            labels: the label of each example: a name in classification, a list
                of names in multi-label classification, a number in regression.

        Returns:
            label indices [examples]. In multi-label classification, 0 or 1 for
            each label [examples, labels]. In regression, numbers [examples].
        """
        if self.output_mode == "regression":
            return np.array(labels, np.float32)
        if self.output_mode == "multilabel":
            return np.array(
                [[int(name in row) for name in self._names] for row in labels]
            )
        return np.array([self._names.index(label) for label in labels])

    def labels(self, outputs: np.ndarray) -> list[Label]:
        """Converts the outputs for a batch of examples to predicted labels.

        Args:
            outputs: logits, float [examples, labels], or values [examples, 1]
                in regression.

        Returns:
            the predicted label of each example: a name in classification, a
            list of names in multi-label classification, a number in regression.
        """
        predictions = self.predictions(outputs)
        if self.output_mode == "regression":
            return predictions.tolist()
        if self.output_mode == "multilabel":
            return [
                [self._names[index] for index in np.flatnonzero(row)]
                for row in predictions
            ]
        return [self._names[index] for index in predictions]

    def fit_temperature(
        self, label_ids: np.ndarray, outputs: np.ndarray
    ) -> None:
        """Sets `temperature` so that it minimizes the cross-entropy.

        The temperature is between 0.05 and 20.

        Args:
            label_ids: right labels: indices [examples], or in multi-label
                classification 0 or 1 [examples, labels].
            outputs: logits, float [examples, labels].
        """
        from scipy import optimize, special

        logits = outputs.astype(np.float64)

        def loss(log_temperature: float) -> float:
            scaled = logits / np.exp(log_temperature)
            if self.output_mode == "multilabel":
                # The loss is -log sigmoid(logit) if the example has the label,
                # and -log sigmoid(-logit) if it does not.
                losses = np.logaddexp(0, (1 - 2 * label_ids) * scaled)
                return float(losses.mean())
            log_probs = special.log_softmax(scaled, axis=-1)
            return -float(log_probs[np.arange(len(logits)), label_ids].mean())

        bounds = (np.log(0.05), np.log(20))
        found = optimize.minimize_scalar(loss, bounds=bounds, method="bounded")
        self.temperature = float(np.exp(found.x))

    def fit_thresholds(
        self, label_ids: np.ndarray, outputs: np.ndarray
    ) -> None:
        """Chooses for each label the threshold with the best F1.

        The candidates are the midpoints between neighboring values of the
        label's sorted probabilities in the dev set, and half the lowest value.
        The threshold is 0.5 if the label does not occur in the dev set.

        Args:
            label_ids: [examples, labels], 1 if the example has the label, else
                0.
            outputs: logits, float [examples, labels].
        """
        from sklearn import metrics as sk_metrics

        self.thresholds = {}
        probabilities = self.probabilities(outputs).astype(np.float64)
        # If the training diverged, outputs may be NaN.
        probabilities = np.nan_to_num(probabilities)
        for name, right, column in zip(
            self._names, label_ids.T > 0.5, probabilities.T, strict=True
        ):
            if not right.any():
                logging.warning(
                    "--tune_thresholds: no example of the dev set has the "
                    "label %r, so its threshold stays 0.5",
                    name,
                )
                self.thresholds[name] = 0.5
                continue
            # `ordered` are the distinct probabilities, in descending order.
            _, false, missed, correct, ordered = (
                sk_metrics.confusion_matrix_at_thresholds(right, column)
            )
            f1 = 2 * correct / (2 * correct + false + missed)
            below = np.append(ordered[1:], 0.0)
            best = int(np.argmax(np.where(ordered > below, f1, -1.0)))
            self.thresholds[name] = float((ordered[best] + below[best]) / 2)

    def calibration(
        self, label_ids: np.ndarray, outputs: np.ndarray
    ) -> tuple[float, list[tuple[int, int, float, float]]]:
        """Compares the probabilities of the predictions with their accuracy.

        Each example counts as one prediction. In multi-label classification,
        each label of each example counts as one. Each prediction is in one of
        NUM_BINS bins, which divide the probabilities from 0 to 1 evenly.

        Args:
            label_ids: right labels, as in `fit_temperature`.
            outputs: logits, float [examples, labels].

        Returns:
            (error, bins). `error` is the expected calibration error (ECE): the
            mean distance between probability and accuracy in a bin, weighted by
            the number of predictions in the bin. `bins` contains, for each bin
            with predictions: (index of the bin, number of its predictions, mean
            of their probabilities, their accuracy).
        """
        probabilities = self.probabilities(outputs)
        if self.output_mode == "multilabel":
            sure = np.maximum(probabilities, 1 - probabilities).ravel()
            is_right = ((probabilities > 0.5) == (label_ids > 0.5)).ravel()
        else:
            sure = probabilities.max(-1)
            is_right = probabilities.argmax(-1) == label_ids
        numbers = np.minimum((sure * NUM_BINS).astype(int), NUM_BINS - 1)
        error, bins = 0.0, []
        for number in np.unique(numbers).tolist():
            each, right = sure[numbers == number], is_right[numbers == number]
            error += abs(float(each.sum() - right.sum()))
            means = float(each.mean()), float(right.mean())
            bins.append((number, len(each), *means))
        return error / max(len(sure), 1), bins


def describe_example(example: InputExample, has_label: bool) -> dict[str, Any]:
    """Returns the fields that describe an example in predictions.jsonl.

    The fields are `guid` (the example's name), `text_a`, `text_b` for a pair,
    and `gold_label` if the right label is known. `has_label` is False if the
    example's label is only a placeholder.
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
    """Writes predictions to test_results.tsv and predictions.jsonl.

    test_results.tsv is the file that Google's code writes. It contains a line
    for each example, with a column for the probability of each label. In
    regression, its only column is the predicted value. A line of
    predictions.jsonl contains the fields of an example, the predicted `label`
    and, except in regression, `probabilities`: {label: probability}.

    Args:
        output_dir: folder to write to.
        entries: for each example, the fields that describe it (see
            `describe_example`).
        batches: pairs (features, outputs). The model's outputs are float
            [examples, labels].
        decoder: LabelDecoder of the task.
        suffix: text to insert before the extension of the files' names, such as
            "_mm".

    Returns:
        the predicted labels, as `LabelDecoder.labels` returns them.

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
                # UTF-8 cannot encode a lone surrogate. Write it as \uXXXX, as
                # in the input.
                lines.write(f"{line}\n".encode(errors="backslashreplace"))
    logging.info(
        "Wrote %d predictions to %s and %s", len(labels), table_file, json_file
    )
    return labels
