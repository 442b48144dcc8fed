"""Writes an HTML report of a classifier's right and wrong predictions.

Each section of the report is a dict. The template data/io/report.html documents
its keys.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from data.classification import metrics
from data.classification.decoding import NUM_BINS, LabelDecoder
from data.classification.examples import InputExample
from data.io import html_report
from data.io.html_report import show
from files.paths import StrPath


def write_report(
    output_file: StrPath,
    examples: Sequence[InputExample],
    label_ids: np.ndarray,
    outputs: np.ndarray,
    decoder: LabelDecoder,
) -> None:
    """Writes a self-contained HTML page about a classifier's predictions.

    The page shows a confusion matrix, each label's scores, the calibration, and
    the most confident errors with their texts. In multi-label classification,
    it shows no confusion matrix. In regression, it shows a scatter plot and the
    largest errors.

    Examples whose outputs are not finite are skipped. The page says how many.

    Args:
        output_file: HTML file to write.
        examples: the examples.
        label_ids: right labels, in the format of the predicted labels that
            `LabelDecoder.predictions` returns.
        outputs: the model's outputs, float [examples, labels], or
            [examples, 1] in regression.
        decoder: LabelDecoder of the task.

    Raises:
        OSError: the file cannot be written.
    """
    is_finite = np.isfinite(outputs).all(-1)
    kept = [examples[index] for index in np.flatnonzero(is_finite).tolist()]
    create = _of_numbers if decoder.output_mode == "regression" else _of_labels
    summary, sections = create(
        kept, label_ids[is_finite], outputs[is_finite], decoder
    )
    paragraphs = [summary]
    if len(kept) < len(examples):
        paragraphs.insert(
            0,
            f"{len(examples) - len(kept)} examples are skipped, because the "
            "model's outputs for them are not finite.",
        )
    html_report.write(output_file, "Predictions", paragraphs, sections)


def _of_labels(
    examples: Sequence[InputExample],
    label_ids: np.ndarray,
    outputs: np.ndarray,
    decoder: LabelDecoder,
) -> tuple[str, list[dict[str, Any]]]:
    """Returns the report's summary and sections for classified texts."""
    names = decoder.label_list or []
    probabilities = decoder.probabilities(outputs)
    has_many = decoder.output_mode == "multilabel"
    if has_many:
        truth = label_ids > 0.5
        guesses = decoder.predictions(outputs) > 0.5
        is_right = truth == guesses
        confidence = np.maximum(probabilities, 1 - probabilities)
    else:
        one_hot = np.eye(len(names), dtype=bool)
        truth, guesses = one_hot[label_ids], one_hot[probabilities.argmax(-1)]
        is_right = (truth == guesses).all(-1, keepdims=True)
        confidence = probabilities.max(-1, keepdims=True)
    # Sort the wrong examples by their most confident wrong prediction. (In
    # multi-label classification, there is a prediction for each label.)
    wrongness = np.where(is_right, 0.0, confidence).max(-1, initial=0.0)
    wrong = np.argsort(-wrongness, kind="stable")[: np.count_nonzero(wrongness)]

    def describe(index: int) -> dict[str, Any]:
        right, predicted = (
            ", ".join(np.array(names)[chosen[index]]) or "none"
            for chosen in (truth, guesses)
        )
        verdict = f"right: {right}; predicted: {predicted}"
        if not has_many:
            sure = confidence[index, 0]
            verdict = f"right: {right}, predicted: {predicted} ({sure:.3f})"
        rows = [*zip(names, probabilities[index].tolist(), strict=True)]
        table = {"header": ["label", "probability"], "rows": rows}
        return _entry(examples[index], verdict) | {"table": table}

    header = ["label", "precision", "recall", "F1", "right", "predicted"]
    rates = metrics.rates_by_label(truth, guesses)
    columns = [names, *rates.values(), truth.sum(0), guesses.sum(0)]
    if decoder.thresholds:
        header.append("threshold")
        columns.append([decoder.thresholds[name] for name in names])
    rows = [*zip(*columns, strict=True)]
    sections = [
        {"title": "Each label", "table": {"header": header, "rows": rows}},
        _calibration(label_ids, outputs, decoder),
        {
            "title": "Errors, the most confident first",
            "entries": [describe(index) for index in wrong.tolist()],
        },
    ]
    count = f"{len(examples) - len(wrong)} of {len(examples)}"
    if has_many:
        return f"All labels of {count} examples are right.", sections
    accuracy = show(float(is_right.mean()) if len(examples) else 0.0)
    summary = f"{count} labels are right: accuracy {accuracy}."
    return summary, [_confusion(names, truth, guesses), *sections]


def _confusion(
    names: Sequence[str], truth: np.ndarray, guesses: np.ndarray
) -> dict[str, Any]:
    counts = truth.T.astype(int) @ guesses
    totals = counts.sum(1, keepdims=True)
    return {
        "title": "Confusion matrix",
        "paragraphs": ["Right labels by row, predicted by column."],
        "table": {
            "header": ["", *names],
            "rows": [[names[i], *row] for i, row in enumerate(counts)],
            "shades": (counts / np.maximum(totals, 1)).tolist(),
        },
    }


def _of_numbers(
    examples: Sequence[InputExample],
    values: np.ndarray,
    outputs: np.ndarray,
    decoder: LabelDecoder,
) -> tuple[str, list[dict[str, Any]]]:
    """Returns the report's summary and sections for a regression task."""
    predictions = decoder.predictions(outputs)
    errors = np.abs(predictions - values)
    points = [*zip(values.tolist(), predictions.tolist(), strict=True)]
    # If there are too many examples for a page, show evenly spaced ones.
    num_shown = min(len(points), html_report.MAX_EXAMPLES)
    shown = np.unique(np.linspace(0, len(points) - 1, num_shown).astype(int))
    both = np.concatenate([values, predictions, [0.0]])
    chart = {
        "points": [(*points[index], 3.0) for index in shown],
        "low": float(both.min()),
        "high": float(both.max()),
        "x_title": "right value",
        "y_title": "predicted value",
    }
    text = f"{len(shown)} of {len(points)} are shown."
    is_cut = len(shown) < len(points)
    entries = []
    for index in np.argsort(-errors, kind="stable").tolist():
        right, predicted = map(show, points[index])
        verdict = f"right: {right}, predicted: {predicted}"
        entries.append(_entry(examples[index], verdict))
    mean = show(float(errors.mean()) if len(errors) else 0.0)
    return f"{len(examples)} examples; the mean absolute error is {mean}.", [
        {
            "title": "Right and predicted values",
            "paragraphs": [text] * is_cut,
            "chart": chart,
        },
        {"title": "The largest errors first", "entries": entries},
    ]


def _calibration(
    label_ids: np.ndarray, outputs: np.ndarray, decoder: LabelDecoder
) -> dict[str, Any]:
    """Returns a report section that compares confidence with accuracy.

    If a model is calibrated, its confidence equals its accuracy.
    """
    error, bins = decoder.calibration(label_ids, outputs)
    total = sum(count for _, count, _, _ in bins)
    rows, points = [], []
    for number, count, sure, accuracy in bins:
        low, high = number / NUM_BINS, (number + 1) / NUM_BINS
        rows.append([f"{low:.1f} to {high:.1f}", count, sure, accuracy])
        points.append((sure, accuracy, 3 + 12 * (count / total) ** 0.5))
    text = (
        "For a calibrated model, the circles are on the line. Larger circles "
        "represent more predictions. Expected calibration error: "
        f"{show(error)}."
    )
    if decoder.temperature != 1:
        plain = LabelDecoder(decoder.output_mode, decoder.label_list)
        before, _ = plain.calibration(label_ids, outputs)
        text += (
            f" Before --calibrate: {show(before)}; "
            f"the temperature is {show(decoder.temperature)}."
        )
    header = ["confidence", "predictions", "mean confidence", "accuracy"]
    lowest = min((min(x, y) for x, y, _ in points), default=0.0)
    chart = {"points": points, "low": math.floor(10 * lowest) / 10, "high": 1.0}
    return {
        "title": "Calibration",
        "paragraphs": [text],
        "chart": chart | {"x_title": "confidence", "y_title": "accuracy"},
        "table": {"header": header, "rows": rows},
    }


def _entry(example: InputExample, verdict: str) -> dict[str, Any]:
    """Returns the entry of an example in the report.

    The entry shows the example's texts and below them `verdict`, a line such as
    "right: 2, predicted: 3". A click on the entry shows the example's guid.
    """
    texts = [example.text_a, *filter(None, [example.text_b])]
    guid = str(example.guid)
    return {"headings": texts, "lines": [verdict], "paragraphs": [guid]}
