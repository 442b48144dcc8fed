"""Writes an HTML report of a classifier's right and wrong predictions.

N = examples, L = labels.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from data.classification.decoding import LabelDecoder
from data.classification.examples import InputExample
from data.io import html_report
from data.io.html_report import escape

_NUM_BINS = 10


def write_report(
    output_file: str | os.PathLike[str],
    examples: Sequence[InputExample],
    label_ids: np.ndarray,
    outputs: np.ndarray,
    decoder: LabelDecoder,
    max_examples: int = 1000,
) -> None:
    """Writes a self-contained HTML page.

    For labels it shows a confusion matrix, each label's scores, the
    calibration, and the most confident errors with their texts; for numbers a
    scatter plot and the largest errors.

    Examples whose outputs are not finite are left out, and counted.

    Args:
        output_file: the page.
        examples: N of them.
        label_ids: the right labels, as `LabelDecoder.predictions` gives them.
        outputs: the model's, float [N, L], or [N, 1] in regression.
        decoder: LabelDecoder.
        max_examples: maximum errors, and points of a scatter plot, to show.

    Raises:
        OSError: the file cannot be written.
    """
    is_finite = np.isfinite(outputs).all(-1)
    num_others = len(examples) - int(is_finite.sum())
    examples = [
        example
        for example, is_kept in zip(examples, is_finite, strict=True)
        if is_kept
    ]
    label_ids, outputs = label_ids[is_finite], outputs[is_finite]
    probabilities = decoder.probabilities(outputs)
    predictions = decoder.predictions(outputs)
    if decoder.output_mode == "regression":
        parts = _of_numbers(examples, label_ids, predictions, max_examples)
    elif decoder.output_mode == "multilabel":
        parts = _of_many_labels(
            examples, label_ids, probabilities, decoder, max_examples
        )
    else:
        parts = _of_labels(
            examples, label_ids, probabilities, decoder, max_examples
        )
    html_report.write(
        output_file,
        "Predictions",
        itertools.chain(_left_out(num_others), parts),
    )


def _left_out(num_examples: int) -> Iterator[str]:
    """Yields a note on left-out examples, if there are any."""
    if num_examples:
        yield (
            f"<p>{num_examples} examples are left out: what the model predicts "
            "for them is not finite.</p>"
        )


def _of_labels(
    examples: Sequence[InputExample],
    label_ids: np.ndarray,
    probabilities: np.ndarray,
    decoder: LabelDecoder,
    max_examples: int,
) -> Iterator[str]:
    names = decoder.label_list or []
    predictions = probabilities.argmax(-1)
    is_right = predictions == label_ids
    yield (
        f"<p>{is_right.sum()} of {len(examples)} labels are right: accuracy "
        f"{escape(float(is_right.mean()) if len(is_right) else 0.0)}.</p>"
    )
    counts = np.zeros([len(names), len(names)], int)
    np.add.at(counts, (label_ids, predictions), 1)
    yield "<h2>Confusion matrix</h2><p>Right labels by row, predicted by "
    yield "column.</p>"
    shades = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    yield html_report.table(
        ["", *names],
        [[name, *row] for name, row in zip(names, counts, strict=True)],
        shades.tolist(),
    )
    truth = np.eye(len(names), dtype=int)[label_ids]
    guesses = np.eye(len(names), dtype=int)[predictions]
    yield from _label_scores(names, truth, guesses)
    confidence = probabilities.max(-1)
    yield from _calibration(confidence, is_right)
    yield from _errors(
        examples,
        names,
        probabilities,
        ~is_right,
        confidence,
        lambda index: (
            f"right: {escape(names[label_ids[index]])}, predicted: "
            f"{escape(names[predictions[index]])} ({confidence[index]:.3f})"
        ),
        max_examples,
    )


def _of_many_labels(
    examples: Sequence[InputExample],
    label_ids: np.ndarray,
    probabilities: np.ndarray,
    decoder: LabelDecoder,
    max_examples: int,
) -> Iterator[str]:
    names = decoder.label_list or []
    truth = label_ids > 0.5
    guesses = probabilities > 0.5
    is_right = truth == guesses
    yield (
        f"<p>All labels of {is_right.all(-1).sum()} of {len(examples)} "
        "examples are right.</p>"
    )
    yield from _label_scores(names, truth, guesses)
    confidence = np.maximum(probabilities, 1 - probabilities)
    yield from _calibration(confidence.ravel(), is_right.ravel())

    def listed(row: np.ndarray) -> str:
        return escape(", ".join(np.array(names)[row]) or "none")

    yield from _errors(
        examples,
        names,
        probabilities,
        ~is_right.all(-1),
        # Of several wrong labels the most confident.
        np.where(is_right, 0.0, confidence).max(-1, initial=0.0),
        lambda index: (
            f"right: {listed(truth[index])}; predicted: "
            f"{listed(guesses[index])}"
        ),
        max_examples,
    )


def _errors(
    examples: Sequence[InputExample],
    names: Sequence[str],
    probabilities: np.ndarray,
    is_wrong: np.ndarray,
    confidence: np.ndarray,
    verdict: Callable[[int], str],
    max_examples: int,
) -> Iterator[str]:
    """Yields the examples that are wrong, the most confident first.

    Args:
        examples: N of them.
        names: of the L labels.
        probabilities: float [N, L].
        is_wrong: bool [N].
        confidence: float [N], by which they are sorted.
        verdict: (index) -> the right and the predicted label, as HTML.
        max_examples: maximum to show.
    """
    wrong = np.flatnonzero(is_wrong)
    wrong = wrong[np.argsort(-confidence[wrong], kind="stable")]
    entries = [
        _entry(
            examples[index],
            verdict(index),
            zip(names, probabilities[index].tolist(), strict=True),
        )
        for index in wrong[:max_examples]
    ]
    yield from html_report.section(
        "Errors, the most confident first", entries, len(wrong)
    )


def _of_numbers(
    examples: Sequence[InputExample],
    values: np.ndarray,
    predictions: np.ndarray,
    max_examples: int,
) -> Iterator[str]:
    errors = np.abs(predictions - values)
    mean = float(errors.mean()) if len(errors) else 0.0
    yield (
        f"<p>{len(examples)} examples; the mean absolute error is "
        f"{escape(mean)}.</p><h2>Right and predicted values</h2>"
    )
    both = np.concatenate([values, predictions, [0.0]])
    # Evenly spaced, if there are too many points for a page.
    shown = np.unique(
        np.linspace(0, len(values) - 1, min(len(values), max_examples)).astype(
            int
        )
    )
    yield html_report.chart(
        ((float(values[i]), float(predictions[i]), 3.0) for i in shown),
        (float(both.min()), float(both.max())),
        "right value",
        "predicted value",
    )
    if len(shown) < len(values):
        yield f"<p>{len(shown)} of {len(values)} are shown.</p>"
    order = np.argsort(-errors, kind="stable")
    entries = [
        _entry(
            examples[index],
            f"right: {escape(float(values[index]))}, predicted: "
            f"{escape(float(predictions[index]))}",
            (),
        )
        for index in order[:max_examples]
    ]
    yield from html_report.section(
        "The largest errors first", entries, len(examples)
    )


def _label_scores(
    names: Sequence[str], truth: np.ndarray, guesses: np.ndarray
) -> Iterator[str]:
    """Yields precision, recall and F1 of each label.

    Args:
        names: the labels.
        truth: bool or 0 and 1 [N, L].
        guesses: like truth.
    """
    correct = (truth * guesses).sum(0)
    predicted, right = guesses.sum(0), truth.sum(0)
    yield "<h2>Each label</h2>"
    yield html_report.table(
        ["label", "precision", "recall", "F1", "right", "predicted"],
        [
            [
                name,
                float(c / p) if p else 0.0,
                float(c / r) if r else 0.0,
                float(2 * c / (p + r)) if c else 0.0,
                r,
                p,
            ]
            for name, c, p, r in zip(
                names, correct, predicted, right, strict=True
            )
        ],
    )


def _calibration(confidence: np.ndarray, is_right: np.ndarray) -> Iterator[str]:
    """Yields how often predictions are right, by their confidence."""
    bins = np.minimum((confidence * _NUM_BINS).astype(int), _NUM_BINS - 1)
    rows, points, error = [], [], 0.0
    for number in range(_NUM_BINS):
        members = bins == number
        count = int(members.sum())
        if not count:
            continue
        sure = float(confidence[members].mean())
        share = float(is_right[members].mean())
        error += count / len(bins) * abs(sure - share)
        low, high = number / _NUM_BINS, (number + 1) / _NUM_BINS
        rows.append([f"{low:.1f} to {high:.1f}", count, sure, share])
        points.append((sure, share, 3 + 12 * (count / len(bins)) ** 0.5))
    yield (
        "<h2>Calibration</h2><p>For a calibrated model the circles lie on "
        "the line; larger circles stand for more predictions. Expected "
        f"calibration error: {escape(error)}.</p>"
    )
    yield html_report.chart(points, (0.0, 1.0), "confidence", "accuracy")
    yield html_report.table(
        ["confidence", "predictions", "mean confidence", "accuracy"], rows
    )


def _entry(example: InputExample, verdict: str, probabilities: object) -> str:
    """Returns an example that expands to its probabilities."""
    texts = [example.text_a, *filter(None, [example.text_b])]
    shown = "<br>".join(f"<b>{escape(text)}</b>" for text in texts)
    rows = [*probabilities]  # type: ignore[misc]
    inner = html_report.table(["label", "probability"], rows) if rows else ""
    return (
        f"<details><summary>{shown}<br>{verdict}</summary>"
        f"<p>{escape(example.guid)}</p>{inner}</details>"
    )
