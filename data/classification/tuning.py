"""Fits a classifier's temperature and thresholds to a dev set.

N = examples, L = labels.
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
    """Options that fit thresholds and a temperature to the dev set."""

    tune_thresholds: bool = flags.decoding(
        False,
        "With --output_mode=multilabel, use for each label the threshold with "
        "the best F1 on the dev set, not 0.5. The export stores the "
        "thresholds. Needs --do_eval.",
    )
    calibrate: bool = flags.decoding(
        False,
        "Fit a temperature on the dev set, so that probabilities match how "
        "often the predictions are right. The export stores the temperature. "
        "Needs --do_eval.",
    )


def check(options: Any, output_mode: str) -> None:
    """Checks that --tune_thresholds and --calibrate fit the output mode.

    Args:
        options: object with the fields of TuningOptions and
            windows.WindowOptions.
        output_mode: "classification", "multilabel" or "regression".

    Raises:
        ValueError: a flag does not fit the output mode, or the pooling of
            windows.
    """
    if options.tune_thresholds and output_mode != "multilabel":
        raise ValueError(
            "--tune_thresholds needs several labels for each text "
            f"(--output_mode=multilabel), but --output_mode={output_mode}"
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
        options: the flags, TuningOptions.
        decoder: LabelDecoder that the function changes.
        label_ids: right labels, as `LabelDecoder.predictions` returns them.
        outputs: logits, float [N, L].
        is_main: False for a second dev set. The function then does not change
            the decoder, but computes the second set's calibration error.

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

    Args:
        output_mode: "classification" or "multilabel".
        label_ids: right labels, as `LabelDecoder.predictions` returns them.
        outputs: logits, float [N, L].
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
    """Finds the threshold with the best F1 for each label.

    A threshold is the mean of two neighboring probabilities of the dev set. If
    no example has the label, its threshold is 0.5.

    Args:
        names: names of the labels.
        truth: [N, L], 1 for a right label.
        probabilities: float [N, L].
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
        # Compute F1 for assigning the label to the first 1, 2, ... examples.
        f1 = 2 * np.cumsum(right[order])
        f1 = f1 / (np.arange(1, len(f1) + 1) + right.sum())
        below = np.append(ordered[1:], 0.0)
        # There is no threshold between equal probabilities.
        best = int(np.argmax(np.where(ordered > below, f1, -1.0)))
        thresholds[name] = float((ordered[best] + below[best]) / 2)
    return thresholds


def confidences(
    decoder: LabelDecoder, label_ids: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the predictions' confidences, and whether each one is right.

    Both arrays are [P]. P is the number of examples. In multi-label
    classification, P is the number of examples times the number of labels.
    """
    probabilities = decoder.probabilities(outputs)
    if decoder.output_mode == "multilabel":
        sure = np.maximum(probabilities, 1 - probabilities)
        is_right = (probabilities > 0.5) == (label_ids > 0.5)
        return sure.ravel(), is_right.ravel()
    is_right = probabilities.argmax(-1) == label_ids
    return probabilities.max(-1), is_right


def calibration_error(confidence: np.ndarray, is_right: np.ndarray) -> float:
    """Computes the expected calibration error (ECE), over 10 equal bins."""
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
    """Returns the index of the bin that contains each confidence, int [P]."""
    return np.minimum((confidence * NUM_BINS).astype(int), NUM_BINS - 1)
