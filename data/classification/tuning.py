"""Fits a classifier's temperature and its labels' thresholds to a dev set.

Logits are divided by the temperature. A text gets a label if the label's
probability is above its threshold.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import logging

from data.classification.decoding import LabelDecoder
from files import flags

NUM_BINS = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """Options to fit the labels' thresholds and a temperature to a dev set."""

    tune_thresholds: bool = flags.decoding(
        False,
        "With --output_mode=multilabel, a text gets a label if the label's "
        "probability is above a threshold. Choose the threshold with the best "
        "F1 on the dev set for each label, instead of 0.5. The export stores "
        "the thresholds. Needs --do_eval.",
    )
    calibrate: bool = flags.decoding(
        False,
        "Divide the logits by a temperature that is fitted to the dev set, so "
        "that probabilities match how often the predictions are right. The "
        "export stores the temperature. Needs --do_eval.",
    )


def check(options: Any, output_mode: str) -> None:
    """Checks that --tune_thresholds and --calibrate suit the other flags.

    Args:
        options: object with the fields of TuningOptions and
            windows.WindowOptions.
        output_mode: "classification", "multilabel" or "regression".

    Raises:
        ValueError: one of the two flags is set, and does not work with the
            output mode or with --window_pooling.
    """
    if options.tune_thresholds and output_mode != "multilabel":
        raise ValueError(
            "--tune_thresholds needs --output_mode=multilabel (any number of "
            f"labels for each text). Received: --output_mode={output_mode}"
        )
    if options.calibrate and output_mode == "regression":
        raise ValueError(
            "--calibrate is not for --output_mode=regression; remove the flag"
        )
    takes_largest = options.doc_stride and options.window_pooling == "max"
    if options.calibrate and output_mode == "classification" and takes_largest:
        raise ValueError("--calibrate needs --window_pooling=mean")


def fit(
    options: TuningOptions,
    decoder: LabelDecoder,
    label_ids: np.ndarray,
    outputs: np.ndarray,
    is_main: bool,
) -> dict[str, float]:
    """Fits a decoder's temperature and thresholds, if the flags request it.

    Args:
        options: TuningOptions.
        decoder: LabelDecoder, whose temperature and thresholds are changed.
        label_ids: right labels of the dev set, in the form that
            `LabelDecoder.predictions` returns.
        outputs: logits for the dev set, float [examples, labels].
        is_main: False for a task's second dev set, such as MultiNLI's
            mismatched set. The function then does not change the decoder, and
            only computes the calibration errors on this set.

    Returns:
        {"ece_before", "ece", "temperature"}: calibration errors before and
        after the fit, and the temperature. Without --calibrate, {}.
    """
    figures = {}
    if options.calibrate:
        found = confidences(decoder, label_ids, outputs)
        figures["ece_before"] = calibration_error(*found)
        if is_main:
            decoder.temperature = fit_temperature(
                decoder.output_mode, label_ids, outputs
            )
        found = confidences(decoder, label_ids, outputs)
        figures["ece"] = calibration_error(*found)
        figures["temperature"] = decoder.temperature
    if options.tune_thresholds and is_main:
        decoder.thresholds = find_thresholds(
            decoder.label_list or (), label_ids, decoder.probabilities(outputs)
        )
    return figures


def fit_temperature(
    output_mode: str, label_ids: np.ndarray, outputs: np.ndarray
) -> float:
    """Finds the temperature from 0.05 to 20 with the lowest cross-entropy.

    The temperature is the number by which logits are divided.

    Args:
        output_mode: "classification" or "multilabel".
        label_ids: right labels: indices [examples], or in multi-label
            classification 0 or 1 [examples, labels].
        outputs: logits, float [examples, labels].
    """
    from scipy import optimize, special

    logits = outputs.astype(np.float64)

    def loss(log_temperature: float) -> float:
        scaled = logits / np.exp(log_temperature)
        if output_mode == "multilabel":
            # The loss is -log sigmoid(logit) for a right label, and
            # -log sigmoid(-logit) for a wrong label.
            return float(np.logaddexp(0, (1 - 2 * label_ids) * scaled).mean())
        log_probs = special.log_softmax(scaled, axis=-1)
        return -float(log_probs[np.arange(len(logits)), label_ids].mean())

    bounds = (np.log(0.05), np.log(20))
    found = optimize.minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(np.exp(found.x))


def find_thresholds(
    names: Sequence[str], truth: np.ndarray, probabilities: np.ndarray
) -> dict[str, float]:
    """Finds, for each label, the threshold of its probability with the best F1.

    A threshold is the mean of two neighboring probabilities of the dev set, or
    half the lowest probability. If a label is right for no example of the dev
    set, its threshold is 0.5.

    Args:
        names: names of the labels.
        truth: [examples, labels], 1 for a right label, else 0.
        probabilities: predicted probabilities of the labels, float
            [examples, labels].

    Returns:
        {label: threshold}.
    """
    thresholds = {}
    for name, right, column in zip(
        names, truth.T > 0.5, probabilities.T.astype(np.float64), strict=True
    ):
        if not right.any():
            logging.warning(
                "--tune_thresholds: no example of the dev set has the label "
                "%r, so its threshold stays 0.5",
                name,
            )
            thresholds[name] = 0.5
            continue
        order = np.argsort(-column, kind="stable")
        ordered = column[order]
        # Compute the F1 that results if the label is assigned to only the most
        # probable example, to the two most probable examples, and so on.
        f1 = 2 * np.cumsum(right[order])
        f1 = f1 / (np.arange(1, len(f1) + 1) + right.sum())
        below = np.append(ordered[1:], 0.0)
        # A threshold must be between two different probabilities, so ignore the
        # F1 scores at other positions.
        best = int(np.argmax(np.where(ordered > below, f1, -1.0)))
        thresholds[name] = float((ordered[best] + below[best]) / 2)
    return thresholds


def confidences(
    decoder: LabelDecoder, label_ids: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the probability of each prediction, and whether it is right.

    Both arrays are [P], for P predictions. An example has one prediction, and
    in multi-label classification one for each label.

    Args:
        decoder: LabelDecoder, which converts the outputs to probabilities.
        label_ids: right labels: indices [examples], or in multi-label
            classification 0 or 1 [examples, labels].
        outputs: logits, float [examples, labels].
    """
    probabilities = decoder.probabilities(outputs)
    if decoder.output_mode == "multilabel":
        sure = np.maximum(probabilities, 1 - probabilities)
        is_right = (probabilities > 0.5) == (label_ids > 0.5)
        return sure.ravel(), is_right.ravel()
    is_right = probabilities.argmax(-1) == label_ids
    return probabilities.max(-1), is_right


def calibration_error(confidence: np.ndarray, is_right: np.ndarray) -> float:
    """Computes the expected calibration error (ECE).

    The confidences from 0 to 1 are divided into 10 bins of equal width. The
    error is the mean distance between confidence and accuracy in a bin,
    weighted by the number of predictions in the bin.

    Args:
        confidence: probability of each of P predictions, float [P].
        is_right: whether each prediction is right, bool [P].
    """
    bins = bins_of(confidence)
    return sum(
        abs(
            float(
                confidence[bins == number].sum()
                - is_right[bins == number].sum()
            )
        )
        for number in np.unique(bins)
    ) / len(bins)


def bins_of(confidence: np.ndarray) -> np.ndarray:
    """Returns the index of the bin that contains each confidence, int.

    The bins divide the range from 0 to 1 into NUM_BINS equal intervals.
    """
    return np.minimum((confidence * NUM_BINS).astype(int), NUM_BINS - 1)
