"""Texts longer than the input: one answer from those to its windows.

W = windows, N = texts, L = labels. Imports no TensorFlow.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from files import flags

Batch = tuple[Mapping[str, np.ndarray], np.ndarray]

# Before a logarithm, so that a rounded 0 or 1 stays finite.
LOWEST, HIGHEST = 1e-37, 1 - 2**-24


@dataclasses.dataclass(frozen=True, kw_only=True)
class WindowOptions:
    """Options of reading a text in windows."""

    doc_stride: int = flags.head(
        0,
        "Read all of a long text, in windows of --max_seq_length that start "
        "this many WordPieces apart; 0 reads only its beginning, as Google's "
        "code does.",
        at_least=0,
    )
    window_pooling: str = flags.head(
        "mean",
        "With --doc_stride, join what the model says of a text's windows: the "
        "mean of each label's logits, or the largest.",
        choices=("mean", "max"),
    )


def check(options: Any) -> None:
    """Checks the flags of a command.

    Args:
        options: a script's WindowOptions, with `max_seq_length` and
            `given_flags`.

    Raises:
        ValueError: windows would leave out WordPieces, or there are none.
    """
    size = options.max_seq_length - 2
    if options.doc_stride > size:
        raise ValueError(
            f"--doc_stride={options.doc_stride} skips WordPieces: a window of "
            f"--max_seq_length={options.max_seq_length} reads {size}; set "
            f"--doc_stride to {size} or less, such as {size // 2 or 1}"
        )
    if "window_pooling" in options.given_flags and not options.doc_stride:
        raise ValueError(
            f"--window_pooling={options.window_pooling} needs --doc_stride"
        )


def check_examples(
    options: WindowOptions, split: str, examples: Iterable[Any]
) -> None:
    """Refuses to read pairs of texts in windows."""
    if options.doc_stride and any(each.text_b for each in examples):
        raise ValueError(
            f"--doc_stride={options.doc_stride} reads single texts in windows, "
            f"and the {split} set has pairs; leave it out, or use texts "
            "without a second one"
        )


def to_logits(probabilities: np.ndarray, output_mode: str) -> np.ndarray:
    """Returns logits of which a classifier's outputs are the probabilities.

    Args:
        probabilities: float [..., L]; in regression values, returned as they
            are.
        output_mode: see `decoding.LabelDecoder`.
    """
    if output_mode == "regression":
        return probabilities
    clipped = np.clip(probabilities.astype(np.float64), LOWEST, HIGHEST)
    logits = np.log(clipped)
    if output_mode == "multilabel":
        logits -= np.log1p(-clipped)
    return logits


def to_probabilities(logits: np.ndarray, output_mode: str) -> np.ndarray:
    """Returns the opposite of `to_logits`, float32."""
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
    """Returns the logits of texts, float64 [N, L], from those of their windows.

    Any number may be added to all logits of a window, and its probabilities
    stay the same. So of classes, logarithms of probabilities are pooled, which
    the runtime of an export returns as well; their mean is that of the logits.

    Args:
        logits: float [W, L], the windows of each text together.
        starts: first window of each text, int [N].
        output_mode: see `decoding.LabelDecoder`.
        window_pooling: see WindowOptions.
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
    """Yields one batch of all texts, from the batches of their windows.

    Args:
        batches: (features, logits) of windows.
        starts: see `pool`.
        *how: `output_mode` and `window_pooling` of `pool`.
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
    """Returns what an export's outputs were computed from, float [W, L].

    Args:
        decoder: decoding.LabelDecoder of the export.
        outputs: {name: values} of windows, or of whole texts.
    """
    if decoder.output_mode == "regression":
        return outputs["values"][:, None]
    logits = to_logits(outputs["probabilities"], decoder.output_mode)
    return decoder.temperature * logits
