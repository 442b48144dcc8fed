"""Evaluates the formats of an export on the dev sets of its task."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

from data.arrays import Batch
from exporting import export_formats
from exporting.export_formats import ExportFormat
from model_folders.kinds import ModelClass
from model_folders.scores import Scores
from serving import engines
from serving.engines import resize_last_axis
from training.fine_tuning.dev_set_scores import score_dev_set
from training.task import AnyEncodedSet, AnyFineTuningTask


def evaluate_export(
    task: AnyFineTuningTask,
    model_class: ModelClass,
    folder: Path,
    dev_sets: Sequence[AnyEncodedSet],
) -> dict[str, Scores]:
    """Evaluates each format of an export that this machine can run.

    Args:
        task: task that computes the scores.
        model_class: class of the exported model.
        folder: folder of the export.
        dev_sets: the sets to evaluate.

    Returns:
        {format: its scores}, without the formats that cannot be run. The names
        of scores have the suffix of their set.

    Raises:
        OSError: a model file cannot be loaded.
        ValueError: a model file fails on the records.
    """
    scores_of_format: dict[str, Scores] = {}
    length = task.config.fine_tuning.max_seq_length
    for format_name, file in export_formats.FILE_OF_FORMAT.items():
        if not (dev_sets and (folder / file).is_file()):
            continue
        engine = _open_engine(folder, format_name, length)
        if engine is None:
            continue
        scores: Scores = {}
        for dev_set in dev_sets:
            batches = _predict_batches(task, model_class, engine, dev_set)
            scores |= score_dev_set(task, dev_set, task.pool(dev_set, batches))
        scores_of_format[format_name] = scores
    return scores_of_format


def _open_engine(
    folder: Path, format_name: ExportFormat, length: int
) -> engines.Engine | None:
    """Opens a format of an export, to evaluate inputs of up to `length`.

    Returns None, and logs why, if this machine or the format cannot run them.
    """
    try:
        engine = engines.load_engine(folder, format_name)
    except ValueError as error:
        reason = str(error)
    else:
        fixed = engine.inputs["input_ids"][-1]
        if not fixed or fixed >= length:
            return engine
        reason = f"it needs --max_seq_length={fixed}"
    logging.warning("The %s export was not evaluated: %s", format_name, reason)
    return None


def _predict_batches(
    task: AnyFineTuningTask,
    model_class: ModelClass,
    engine: engines.Engine,
    encoded_set: AnyEncodedSet,
) -> Iterator[Batch[Any]]:
    """Yields features and logits, as the model itself would compute them."""
    max_seq_length = task.config.fine_tuning.max_seq_length
    head_settings = task.head_settings
    # Pad the inputs as serve.py does, so that serving reaches the same scores.
    limits = engine.batch_limits(
        max_seq_length,
        trims_padding=head_settings.get("trim_padding") is not False,
    )
    tokens_per_record = math.prod(encoded_set.records.spec["input_ids"].shape)
    batch_size = limits.max_rows(tokens_per_record)
    for batch in encoded_set.create_dataset(batch_size, trims_padding=False):
        features = {name: np.asarray(value) for name, value in batch.items()}
        outputs = engine.run_padded(features, limits)
        logits = export_formats.to_logits(model_class, head_settings, outputs)
        if isinstance(logits, dict):
            # Logits of positions are as long as the records.
            logits = {
                name: resize_last_axis(logits[name], max_seq_length)
                for name in logits
            }
        yield features, logits
