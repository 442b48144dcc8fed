"""Evaluates each format of an export on the records of a split."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

from serving import engines
from serving.tasks import TASKS
from training.task import Task

Arrays = dict[str, np.ndarray]
# Outputs with the shape of `input_mask`: one number for each WordPiece.
_LOGITS = ("start_logits", "end_logits")


def evaluate_export(
    task: Task,
    export_dir: str,
    split: str,
    create_batches: Callable[[int], Iterable[Mapping[str, Any]]],
) -> dict[str, dict[str, float]]:
    """Evaluates each format of an export that this machine can run.

    Args:
        task: task whose `evaluate` computes the scores.
        export_dir: folder of the export.
        split: name of the split, such as "eval".
        create_batches: function (batch size) -> the split's batches of
            features.

    Returns:
        {name of the format: {name of the score: score}}.

    Raises:
        OSError: a model file cannot be loaded.
        ValueError: a model file fails on the records.
    """
    length = task.options.max_seq_length
    width = task.sequences_per_example
    batch_size = engines.BUDGET // (length * width) or 1
    # Pad the inputs as serve.py does, so that serving reaches the same scores.
    kinds = TASKS.get(task.options.head or "", ())
    pads = any(kind.pads for kind in kinds) and not task.options.unpads
    scores = {}
    for name, runtime in engines.RUNTIMES.items():
        if not Path(export_dir, runtime.file).is_file():
            continue
        try:
            engine = engines.open_engine(Path(export_dir), name)
            fixed = engine.inputs["input_ids"][-1]
            if fixed and fixed < length:
                raise ValueError(
                    f"the export's inputs have {fixed} WordPieces, but the "
                    f"records have {length}; set --max_seq_length={fixed}"
                )
        except ValueError as error:
            logging.warning("The %s export was not evaluated: %s", name, error)
            continue
        outputs = _run(
            *(engine, create_batches(batch_size), fixed or length),
            *(bool(fixed) or pads, width),
        )
        batches = (
            (features, task.read_served(values)) for features, values in outputs
        )
        scores[name] = task.evaluate(split, task.pool(split, batches))
    return scores


def _run(
    engine: engines.Engine,
    batches: Iterable[Mapping[str, Any]],
    longest: int,
    pads: bool,
    width: int,
) -> Iterator[tuple[Arrays, Arrays]]:
    """Runs the network. Yields the features and the outputs of each batch.

    Outputs for padding are 0. `engines.cut` explains the last three arguments.
    """
    for batch in batches:
        features = {name: np.asarray(value) for name, value in batch.items()}
        masks = features["input_mask"]
        size = masks.shape[-1]
        sizes = size - masks[..., ::-1].argmax(-1)
        sizes = sizes.reshape(len(masks), -1).max(1).tolist()
        found: Arrays = {}
        for rows, length in engines.cut(
            *(engine, sizes, longest, pads), width=width
        ):
            outputs = engine.run(
                {
                    name: _fit(features[name][rows], length)
                    for name in engines.INPUTS
                }
            )
            for name, value in outputs.items():
                if name in _LOGITS or value.ndim > masks.ndim:
                    # This output contains one value, or one vector, for each
                    # WordPiece.
                    value = _fit(value, size, masks.ndim - 1)
                if name not in found:
                    shape = len(masks), *value.shape[1:]
                    found[name] = np.zeros(shape, value.dtype)
                found[name][rows] = value
        yield features, found


def _fit(values: np.ndarray, size: int, axis: int = -1) -> np.ndarray:
    """Cuts an axis to `size`, or pads the axis with 0."""
    values = values.take(range(min(size, values.shape[axis])), axis)
    padding = [(0, 0)] * values.ndim
    padding[axis] = 0, size - values.shape[axis]
    return np.pad(values, padding)
