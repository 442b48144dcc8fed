"""Scores an export's files on the records of a dev set.

B = batch, F = length of an input.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

from serving import engines
from training.task import Task

Arrays = dict[str, np.ndarray]


def evaluate_export(
    task: Task,
    export_dir: str,
    split: str,
    create_batches: Callable[[int], Iterable[Mapping[str, Any]]],
    read: Callable[[Arrays], Any],
) -> dict[str, dict[str, float]]:
    """Returns the scores of an export's files; see Task.evaluate_export.

    Args:
        task: the task, whose `evaluate` computes the scores.
        export_dir: see there.
        split: see there.
        create_batches: see there.
        read: an engine's outputs -> what the task's model returns for a batch.

    Raises:
        OSError: a file cannot be loaded.
        ValueError: a file fails on the records.
    """
    length = task.options.max_seq_length
    batch_size = engines.BUDGET // (length * task.sequences_per_example) or 1
    scores = {}
    for name, runtime in engines.RUNTIMES.items():
        if not Path(export_dir, runtime.file).is_file():
            continue
        try:
            engine = engines.open_engine(Path(export_dir), name)
            fixed = engine.inputs["input_ids"][-1]
            if fixed and fixed < length:
                raise ValueError(
                    f"it takes {fixed} WordPieces, and the records have "
                    f"{length}; set --max_seq_length={fixed}"
                )
        except ValueError as error:
            logging.warning("The export %s was not checked: %s", name, error)
            continue
        outputs = _run(engine, create_batches(batch_size), fixed or 0)
        batches = ((features, read(values)) for features, values in outputs)
        scores[name] = task.evaluate(split, task.pool(split, batches))
    return scores


def _run(
    engine: engines.Engine, batches: Iterable[Mapping[str, Any]], length: int
) -> Iterator[tuple[Arrays, Arrays]]:
    """Yields (features, outputs); inputs are padded to at least a length."""
    for batch in batches:
        features = {name: np.asarray(value) for name, value in batch.items()}
        missing = max(length - features["input_ids"].shape[-1], 0)
        inputs = {}
        for name in engines.INPUTS:
            padding = [(0, 0)] * (features[name].ndim - 1) + [(0, missing)]
            inputs[name] = np.pad(features[name], padding)
        yield features, engine.run(inputs)
