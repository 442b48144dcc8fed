"""Combines the outputs for the windows of a long text into one prediction.

This module imports no TensorFlow.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from files import flags

Batch = tuple[Mapping[str, np.ndarray], np.ndarray]

# Probabilities are clipped to this range before they become logits, because the
# logits of 0 and 1 are not finite.
LOWEST, HIGHEST = 1e-37, 1 - 2**-24


@dataclasses.dataclass(frozen=True, kw_only=True)
class WindowOptions:
    """Options for splitting a long text into windows, to classify it."""

    doc_stride: int = flags.head(
        0,
        "Split a long text into windows of --max_seq_length that start this "
        "many WordPieces apart. 0 reads only the text's beginning, as Google's "
        "code does.",
        at_least=0,
    )
    window_pooling: str = flags.head(
        "mean",
        "With --doc_stride, compute a text's logits as the mean or as the "
        "maximum of the logits of its windows.",
        choices=("mean", "max"),
    )


def check(options: Any) -> None:
    """Checks --doc_stride and --window_pooling.

    Args:
        options: object with the fields of WindowOptions, with `max_seq_length`,
            and with `given_flags`, the flags that the user set.

    Raises:
        ValueError: windows would skip WordPieces, or --window_pooling is set
            without --doc_stride.
    """
    size = options.max_seq_length - 2
    if options.doc_stride > size:
        raise ValueError(
            f"--doc_stride={options.doc_stride} would skip WordPieces, because "
            f"a window of --max_seq_length={options.max_seq_length} fits only "
            f"{size} WordPieces of a text; set --doc_stride to at "
            f"most {size}, such as {size // 2 or 1}"
        )
    if "window_pooling" in options.given_flags and not options.doc_stride:
        raise ValueError(
            f"--window_pooling={options.window_pooling} needs --doc_stride"
        )


def check_examples(
    options: WindowOptions, split: str, examples: Iterable[Any]
) -> None:
    """Raises a ValueError if --doc_stride is set, but the texts are pairs.

    `split` is the name of the set, for the error message.
    """
    if options.doc_stride and any(each.text_b for each in examples):
        raise ValueError(
            f"--doc_stride={options.doc_stride} is for single texts, but the "
            f"{split} set contains pairs; remove the flag, or use single texts"
        )


def to_logits(probabilities: np.ndarray, output_mode: str) -> np.ndarray:
    """Converts a classifier's probabilities back to logits.

    Args:
        probabilities: float [..., labels]. In regression, these are the
            predicted values, and the function returns them unchanged.
        output_mode: "classification", "multilabel" or "regression".
    """
    if output_mode == "regression":
        return probabilities
    clipped = np.clip(probabilities.astype(np.float64), LOWEST, HIGHEST)
    logits = np.log(clipped)
    if output_mode == "multilabel":
        logits -= np.log1p(-clipped)
    return logits


def to_probabilities(logits: np.ndarray, output_mode: str) -> np.ndarray:
    """Converts a classifier's logits to probabilities, float32 [..., labels].

    In regression, the logits are values, which become float32. `output_mode` is
    "classification", "multilabel" or "regression".
    """
    if output_mode == "multilabel":
        logits = -np.logaddexp(0, -logits)
    elif output_mode == "classification":
        logits = _log_softmax(logits)
    else:
        return logits.astype(np.float32)
    return np.exp(logits).astype(np.float32)


def pool(
    logits: np.ndarray,
    starts: Sequence[int],
    output_mode: str,
    window_pooling: str,
) -> np.ndarray:
    """Pools the logits of each text's windows into one row for the text.

    For "classification", the function pools the logarithms of the windows'
    probabilities. Unlike the logits, these can also be computed from the
    outputs of an exported model.

    Args:
        logits: float [windows, labels]. The windows of a text are consecutive.
        starts: int [texts], index of each text's first window.
        output_mode: "classification", "multilabel" or "regression".
        window_pooling: "mean" or "max".

    Returns:
        float64 [texts, labels].
    """
    logits = logits.astype(np.float64)
    if output_mode == "classification":
        logits = _log_softmax(logits)
    if window_pooling == "max":
        return np.maximum.reduceat(logits, starts)
    counts = np.diff([*starts, len(logits)])
    return np.add.reduceat(logits, starts) / counts[:, None]


def pool_batches(
    batches: Iterable[Batch], starts: Sequence[int], *how: str
) -> Iterator[Batch]:
    """Yields one batch with the pooled logits of all texts.

    Args:
        batches: pairs (features, logits) of windows.
        starts: int [texts], index of each text's first window.
        *how: the arguments `output_mode` and `window_pooling` of `pool`.
    """
    features, logits = zip(*batches, strict=True)
    names = {"label_ids", "is_real_example"} & features[0].keys()
    yield (
        {
            name: np.concatenate([each[name] for each in features])[starts]
            for name in names
        },
        pool(np.concatenate(logits), starts, *how).astype(np.float32),
    )


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)


def read_served(decoder: Any, outputs: Mapping[str, np.ndarray]) -> np.ndarray:
    """Converts the outputs of an exported classifier to logits.

    Returns logits, float [windows, labels], or in regression the predicted
    values, [windows, 1].

    Args:
        decoder: decoding.LabelDecoder of the exported model.
        outputs: {name of an output: values for windows or complete texts}.
    """
    if decoder.output_mode == "regression":
        return outputs["values"][:, None]
    logits = to_logits(outputs["probabilities"], decoder.output_mode)
    return decoder.temperature * logits
