"""Turns a classifier's outputs into labels, and writes files of predictions."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from absl import logging

from data.arrays import FeatureArrays, FloatArray, LabelArray
from data.classification.classification_examples import (
    InputExample,
    Label,
)
from data.classification.label_encoding import encode_label
from data.tables import tables
from files.atomic import atomic_open
from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.model_json_types import OutputMode

# (features, logits or values) of a batch.
LogitsBatch: TypeAlias = tuple[FeatureArrays, FloatArray]


def to_probabilities(logits: FloatArray, output_mode: OutputMode) -> FloatArray:
    """Converts a classifier's logits to probabilities, float [..., labels].

    In regression, `logits` are predicted values, which the function returns.
    `output_mode` is "classification", "multilabel" or "regression".
    """
    if output_mode == "multilabel":
        doubles = logits.astype(np.float64)
        return np.exp(-np.logaddexp(0, -doubles)).astype(logits.dtype)
    if output_mode == "classification":
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        probabilities: FloatArray = powers / powers.sum(axis=-1, keepdims=True)
        return probabilities
    return logits


class LabelDecoder:
    """Turns a classifier's outputs into probabilities and labels.

    Args:
        output_mode: "classification" (one label for each text), "multilabel"
            (any number of labels) or "regression" (a number).
        label_list: names of the labels, or None in regression.
    """

    def __init__(
        self, output_mode: OutputMode, label_list: list[str] | None
    ) -> None:
        self.output_mode = output_mode
        self.label_list = label_list or []

    @property
    def num_outputs(self) -> int:
        """Number of the network's outputs: one per label, 1 in regression."""
        return len(self.label_list) or 1

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Converts logits to probabilities, float32 [examples, labels].

        In regression, `outputs` are predicted values [examples, 1], which the
        function returns as float32.
        """
        return to_probabilities(outputs.astype(np.float32), self.output_mode)

    def encode_labels(self, labels: Sequence[Label | None]) -> LabelArray:
        """Converts a Label of each example, as `encode_label` does.

        Returns int [examples], in multi-label classification int [examples,
        labels], and in regression float32 [examples].
        """
        is_number = self.output_mode == "regression"
        ids = [encode_label(label, self.label_list or None) for label in labels]
        return np.array(ids, np.float32 if is_number else np.int64)

    def decode_labels(self, outputs: FloatArray) -> list[Label]:
        """Converts the network's outputs to the predicted Label of each text.

        In multi-label classification, a text has each label whose probability
        is above 0.5. `outputs` are logits, float [examples, labels], or values
        [examples, 1] in regression.
        """
        if self.output_mode == "regression":
            values: list[Label] = outputs[:, 0].tolist()
            return values
        if self.output_mode == "multilabel":
            return [
                [self.label_list[index] for index in np.flatnonzero(row > 0.5)]
                for row in self.probabilities(outputs)
            ]
        return [self.label_list[index] for index in outputs.argmax(-1)]


def concatenate_outputs(batches: Iterable[LogitsBatch]) -> FloatArray:
    """Returns the outputs of all batches, [number of rows, ...]."""
    return np.concatenate([outputs for _, outputs in batches])


def pool_logits(logits: FloatArray, starts: Sequence[int]) -> FloatArray:
    """Averages the logits of a text's windows into one vector for each text.

    Examples:
        The first text has two windows, and the second text has one:

        >>> logits = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 6.0]])
        >>> pool_logits(logits, starts=[0, 2]).tolist()
        [[2.0, 1.0], [5.0, 6.0]]

    Args:
        logits: float [windows, labels]. The windows of a text are consecutive.
        starts: int [texts], index of each text's first window.

    Returns:
        float64 [texts, labels].
    """
    counts = np.diff([*starts, len(logits)])
    sums = np.add.reduceat(logits.astype(np.float64), starts)
    means: FloatArray = sums / counts[:, None]
    return means


def pool_batches(
    batches: Iterable[LogitsBatch], starts: Sequence[int]
) -> Iterator[LogitsBatch]:
    """Yields a single batch, which contains the pooled logits of all texts.

    `starts` is as in `pool_logits`.
    """
    features, logits = zip(*batches, strict=True)
    names = {"label_ids", "is_real_example"} & features[0].keys()
    yield (
        {
            name: np.concatenate(
                [batch_features[name] for batch_features in features]
            )[starts]
            for name in names
        },
        pool_logits(np.concatenate(logits), starts).astype(np.float32),
    )


def create_prediction_rows(
    examples: Sequence[InputExample], outputs: FloatArray, decoder: LabelDecoder
) -> Iterator[JsonObject]:
    """Yields the rows of a table of predictions: the input's, then an answer.

    The answer is `label`, `probability` and `correct`, or `value` in
    regression. If the input has a column of that name, the new one begins with
    `predicted_`. An empty text has an empty answer, and `correct` is empty if
    the right label is unknown. `outputs` are as in
    `LabelDecoder.decode_labels`.
    """
    probabilities = decoder.probabilities(outputs).max(-1).tolist()
    for example, label, probability in zip(
        examples, decoder.decode_labels(outputs), probabilities, strict=True
    ):
        answer = _create_answer(example, label, probability, decoder.label_list)
        yield tables.with_answer(example.row or {}, answer)


def _create_answer(
    example: InputExample,
    label: Label,
    probability: float,
    label_list: Sequence[str],
) -> JsonObject:
    """Returns the fields that the prediction for an example adds to its row.

    `label_list` is [] in regression.
    """
    gold = example.label
    if isinstance(gold, list):
        gold = sorted(gold, key=label_list.index)
    answer: JsonObject = {
        "label": ",".join(label) if isinstance(label, list) else label,
        "probability": f"{probability:.6f}",
        "correct": "" if gold is None else label == gold,
    }
    if not label_list:
        answer = {"value": label}
    if not example.text_a.strip() and not example.text_b:
        answer = dict.fromkeys(answer, "")
    return answer


def create_example_entries(
    examples: Iterable[InputExample],
) -> Iterator[JsonObject]:
    """Yields the fields of examples for `write_labels`."""
    for example in examples:
        entry: JsonObject = {
            "guid": example.guid,
            "text_a": example.text_a,
        }
        if example.text_b is not None:
            entry["text_b"] = example.text_b
        if example.label is not None:
            entry["gold_label"] = example.label
        yield entry


def write_labels(
    output_dir: StrPath,
    entries: Iterable[Mapping[str, object]],
    outputs: FloatArray,
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
        entries: the fields of each example, such as its `guid`.
        outputs: outputs of the network, as in `LabelDecoder.decode_labels`.
        decoder: decoder of the task.
        suffix: text before the extension of the files' names, such as "_mm".

    Returns:
        the predicted labels.

    Raises:
        OSError: a file cannot be written.
        ValueError: an output is not finite.
    """
    table_file = os.path.join(output_dir, f"test_results{suffix}.tsv")
    json_file = os.path.join(output_dir, f"predictions{suffix}.jsonl")
    labels = decoder.decode_labels(outputs)
    rows = decoder.probabilities(outputs)
    with atomic_open(table_file) as table, atomic_open(json_file) as lines:
        for entry, label, row in zip(entries, labels, rows, strict=True):
            cells = "\t".join(str(value) for value in row)
            table.write(f"{cells}\n".encode())
            lines.write(_format_line(entry, label, row, decoder.label_list))
    logging.info(
        "Wrote %d predictions to %s and %s", len(labels), table_file, json_file
    )
    return labels


def _format_line(
    entry: Mapping[str, object],
    label: Label,
    probabilities: FloatArray,
    label_list: Sequence[str],
) -> bytes:
    """Returns a line of predictions.jsonl. `label_list` is [] in regression."""
    fields: JsonObject = {**entry, "label": label}
    if label_list:
        fields["probabilities"] = dict(
            zip(label_list, probabilities.tolist(), strict=True)
        )
    line = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    # UTF-8 cannot encode a lone surrogate. Write it as \uXXXX, as in the input.
    return f"{line}\n".encode(errors="backslashreplace")
