"""Writes the predictions of a classifier to rows and files."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from absl import logging

from data.arrays import FloatArray
from data.classification.classification_examples import (
    InputExample,
    Label,
)
from data.classification.labels.label_codec import LabelCodec
from data.outputs import output_rows
from files.atomic import atomic_open
from files.json_files import JsonObject
from files.paths import StrPath


def create_prediction_rows(
    examples: Sequence[InputExample], outputs: FloatArray, codec: LabelCodec
) -> Iterator[JsonObject]:
    """Yields the rows of a table of predictions: the input's, then an answer.

    The answer is `label`, `probability` and `correct`, or `value` in
    regression. If the input has a column of that name, the new one begins with
    `predicted_`. An empty text has an empty answer, and `correct` is empty if
    the right label is unknown. `outputs` are as in
    `LabelCodec.decode_labels`.
    """
    probabilities = codec.probabilities(outputs).max(-1).tolist()
    for example, label, probability in zip(
        examples, codec.decode_labels(outputs), probabilities, strict=True
    ):
        answer = _create_answer(example, label, probability, codec.label_list)
        yield output_rows.with_prediction(example.row or {}, answer)


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
    codec: LabelCodec,
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
        outputs: outputs of the network, as in `LabelCodec.decode_labels`.
        codec: converts the outputs to labels.
        suffix: text before the extension of the files' names, such as "_mm".

    Returns:
        the predicted labels.

    Raises:
        OSError: a file cannot be written.
        ValueError: an output is not finite.
    """
    table_file = os.path.join(output_dir, f"test_results{suffix}.tsv")
    json_file = os.path.join(output_dir, f"predictions{suffix}.jsonl")
    labels = codec.decode_labels(outputs)
    rows = codec.probabilities(outputs)
    with atomic_open(table_file) as table, atomic_open(json_file) as lines:
        for entry, label, row in zip(entries, labels, rows, strict=True):
            cells = "\t".join(str(value) for value in row)
            table.write(f"{cells}\n".encode())
            lines.write(_format_line(entry, label, row, codec.label_list))
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
