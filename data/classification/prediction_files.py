"""Writes the predictions of a classifier to files, as a run leaves them."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from absl import logging

from data.arrays import FloatArray
from data.classification.classification_examples import InputExample, Label
from data.classification.label_codec import LabelCodec
from data.predictions import output_rows, output_writer
from data.predictions.output_rows import OutputRow
from files.atomic import atomic_open
from files.json_files import JsonObject
from files.paths import StrPath


def write_table_rows(
    path: str,
    examples: Sequence[InputExample],
    outputs: FloatArray,
    codec: LabelCodec,
) -> None:
    """Writes the rows of a user's table, and the answers beside them.

    Writes nothing for examples that are no rows of a table.

    Args:
        path: path of the CSV file.
        examples: N examples, at least one.
        outputs: the model's outputs for them, float [N, ...].
        codec: converts the outputs to answers.
    """
    if examples[0].row is not None:
        rows = [
            OutputRow(cells)
            for cells in create_prediction_rows(examples, outputs, codec)
        ]
        output_writer.write_output(path, "csv", [rows])


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
    values = codec.compute_values(outputs).max(-1).tolist()
    for example, label, value in zip(
        examples, codec.decode_labels(outputs), values, strict=True
    ):
        answer = _create_answer(example, label, value, codec.labels)
        yield output_rows.with_prediction(example.row or {}, answer)


def _create_answer(
    example: InputExample,
    label: Label,
    value: float,
    labels: Sequence[str],
) -> JsonObject:
    """Returns the fields that the prediction for an example adds to its row.

    `value` is the highest probability of a label. `labels` is [] in regression,
    which ignores `value`.
    """
    gold = example.label
    if isinstance(gold, list):
        gold = sorted(gold, key=labels.index)
    answer: JsonObject = {
        "label": ",".join(label) if isinstance(label, list) else label,
        "probability": f"{value:.6f}",
        "correct": "" if gold is None else label == gold,
    }
    if not labels:
        answer = {"value": label}
    if not example.text_a.strip() and not example.text_b:
        answer = dict.fromkeys(answer, "")
    return answer


def write_test_predictions(
    output_dir: str,
    examples: Sequence[InputExample],
    outputs: FloatArray,
    codec: LabelCodec,
    suffix: str,
) -> list[Label]:
    """Writes the predictions of a test set. Returns the predicted labels.

    Args:
        output_dir: folder for predictions.csv, if the examples are rows of a
            table, and for the files of `write_labels`.
        examples: the N examples of the test set.
        outputs: the model's outputs for them, float [N, ...].
        codec: converts the outputs to answers.
        suffix: text before the extension of the files' names, such as "_mm".
    """
    path = os.path.join(output_dir, "predictions.csv")
    write_table_rows(path, examples, outputs, codec)
    entries = map(_create_entry, examples)
    return write_labels(output_dir, entries, outputs, codec, suffix)


def _create_entry(example: InputExample) -> JsonObject:
    """Returns the fields of an example for `write_labels`."""
    entry: JsonObject = {
        "guid": example.guid,
        "text_a": example.text_a,
    }
    if example.text_b is not None:
        entry["text_b"] = example.text_b
    if example.label is not None:
        entry["gold_label"] = example.label
    return entry


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
        outputs: outputs of the network: logits, float [examples, labels], or
            values [examples, 1] in regression.
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
    predicted = codec.decode_labels(outputs)
    all_values = codec.compute_values(outputs)
    with atomic_open(table_file) as table, atomic_open(json_file) as lines:
        for entry, label, values in zip(
            entries, predicted, all_values, strict=True
        ):
            cells = "\t".join(map(str, values))
            table.write(f"{cells}\n".encode())
            lines.write(_format_line(entry, label, values, codec.labels))
    logging.info(
        "Wrote %d predictions to %s and %s",
        len(predicted),
        table_file,
        json_file,
    )
    return predicted


def _format_line(
    entry: Mapping[str, object],
    label: Label,
    values: FloatArray,
    labels: Sequence[str],
) -> bytes:
    """Returns a line of predictions.jsonl. `labels` is [] in regression."""
    fields: JsonObject = {**entry, "label": label}
    if labels:
        fields["probabilities"] = dict(
            zip(labels, values.tolist(), strict=True)
        )
    line = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    # UTF-8 cannot encode a lone surrogate. Write it as \uXXXX, as in the input.
    return f"{line}\n".encode(errors="backslashreplace")


def write_submission(path: StrPath, predictions: Iterable[Label]) -> None:
    """Writes a test set's predictions in the format of GLUE's site.

    Args:
        path: path of the file, whose name is `glue_tasks.submission_file`.
        predictions: the label (str) of each line of the test set's file. For
            STS-B, scores (float), which are clipped to [0, 5].
    """
    with atomic_open(path) as writer:
        writer.write(b"index\tprediction\n")
        for index, prediction in enumerate(predictions):
            if isinstance(prediction, float):
                prediction = f"{min(max(prediction, 0.0), 5.0):.3f}"
            writer.write(f"{index}\t{prediction}\n".encode())
    logging.info("Wrote the predictions for GLUE's site to %s", path)
