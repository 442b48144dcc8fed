"""Exports a fine-tuned model, unless the export scores much lower.

Each format of the export is evaluated on the dev sets, before the export
replaces an earlier one.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

import serving
from data.arrays import Batch
from data.sets.set_names import suffix_of
from files import atomic
from model_folders import atomic_folders, kinds
from model_folders.cards import model_card
from model_folders.scores import Scores
from serving import engines
from serving.engines import (
    ExportFormat,
    exported_outputs,
    resize_last_axis,
)
from training.flows import run_ending
from training.flows.fine_tuner import FineTuner
from training.loop.trainer import Trainer
from training.task import (
    AnyTask,
    EncodedSet,
    ExampleT,
    FineTuningTask,
    OriginT,
    OutputsT,
)


def export_model(
    fine_tuner: FineTuner[ExampleT, OriginT, OutputsT],
    model_scores: Mapping[str, float],
    export_dir: str,
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    Args:
        fine_tuner: has the weights to export. Its task evaluates the export.
        model_scores: the model's scores on the dev set, {} if they are unknown.
        export_dir: folder of the export.

    Raises:
        OSError: the export cannot be written.
        ValueError: the export's score is lower than --max_export_loss allows.
            An earlier export does not change.
    """
    task = fine_tuner.task
    trainer = fine_tuner.trainer
    config = task.config
    model_class = kinds.listed_class_of(trainer.model)
    scored_sets = []
    if task.metrics[0] in model_scores and task.can_score_export:
        scored_sets = fine_tuner.dev_sets
    logging.info("Exporting %s", trainer.run_weights.describe())
    options = run_ending.create_export_options(
        task.start,
        trainer.run_weights.preset,
        config.fine_tuning.max_seq_length,
        config.fine_tuning.predict_batch_size,
    )
    with atomic_folders.atomic_folder(export_dir) as folder:
        card = serving.export(
            folder, trainer.model, task.head_settings, options
        )
        scores = evaluate_export(task, model_class, folder, scored_sets)
        _write_export_scores(trainer, folder, card, scores)
        check_export_scores(task, scored_sets, model_scores, scores)
    logging.info("Wrote the export to %s", export_dir)


def evaluate_export(
    task: FineTuningTask[ExampleT, OriginT, OutputsT],
    model_class: kinds.ModelClass,
    folder: Path,
    encoded_sets: Sequence[EncodedSet[ExampleT, OriginT]],
) -> Scores:
    """Evaluates each format of an export that this machine can run.

    Args:
        task: task that computes the scores.
        model_class: class of the exported model.
        folder: folder of the export.
        encoded_sets: dev sets to evaluate.

    Returns:
        {name of the format, "_" and name of the score: score}.

    Raises:
        OSError: a model file cannot be loaded.
        ValueError: a model file fails on the records.
    """
    scores: Scores = {}
    length = task.config.fine_tuning.max_seq_length
    for format_name, file in engines.FILE_OF_FORMAT.items():
        if not (encoded_sets and (folder / file).is_file()):
            continue
        engine = _open_engine(folder, format_name, length)
        if engine is None:
            continue
        for encoded_set in encoded_sets:
            batches = task.pool(
                encoded_set,
                _predict_batches(task, model_class, engine, encoded_set),
            )
            suffix = suffix_of(encoded_set.name)
            set_scores = task.compute_scores(encoded_set, batches)
            scores |= {
                f"{format_name}_{name}{suffix}": score
                for name, score in set_scores.items()
            }
    return scores


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
    task: AnyTask,
    model_class: kinds.ModelClass,
    engine: engines.Engine,
    encoded_set: EncodedSet[object, object],
) -> Iterator[Batch[Any]]:
    """Yields features and logits, as the model itself would compute them."""
    max_seq_length = task.config.fine_tuning.max_seq_length
    settings = task.head_settings
    # Pad the inputs as serve.py does, so that serving reaches the same scores.
    limits = engine.limit_batches(
        max_seq_length, pads_to_maximum=settings.get("trim_padding") is False
    )
    tokens_per_record = math.prod(encoded_set.records.spec["input_ids"].shape)
    batch_size = limits.max_rows(tokens_per_record)
    for batch in encoded_set.create_dataset(batch_size, trims_padding=False):
        features = {name: np.asarray(value) for name, value in batch.items()}
        outputs = engine.run_padded(features, limits)
        logits = exported_outputs.to_logits(model_class, settings, outputs)
        if isinstance(logits, dict):
            # Logits of positions are as long as the records.
            logits = {
                name: resize_last_axis(logits[name], max_seq_length)
                for name in logits
            }
        yield features, logits


def check_export_scores(
    task: AnyTask,
    encoded_sets: Sequence[EncodedSet[object, object]],
    model_scores: Mapping[str, float],
    export_scores: Mapping[str, float],
) -> None:
    """Compares the scores of an export with those of the model.

    Args:
        task: task that computed the scores.
        encoded_sets: dev sets that were evaluated.
        model_scores: scores of the model.
        export_scores: result of `evaluate_export`.

    Raises:
        ValueError: a file of the export scores lower than --max_export_loss
            allows.
    """
    config = task.config
    for format_name, encoded_set in itertools.product(
        engines.FILE_OF_FORMAT, encoded_sets
    ):
        metric = f"{task.metrics[0]}{suffix_of(encoded_set.name)}"
        expected = model_scores[metric]
        score = export_scores.get(f"{format_name}_{metric}")
        if score is None or not math.isfinite(expected):
            continue
        points_lost = round((expected - score) / task.percentage_point, 6)
        # Write `not <=` instead of `>`, so that NaN is an error too.
        if not points_lost <= config.fine_tuning.max_export_loss:
            raise ValueError(
                f"--export_dir={config.export.export_dir} was not "
                f"written: its {format_name} file scores {metric} = "
                f"{score:.4f} on the dev set, {points_lost:.2f} percentage "
                f"points below the model's {expected:.4f}. "
                f"{_remedy_of(task)}, or increase --max_export_loss"
            )
        comparison = "as the model"
        if points_lost:
            comparison = f"the model's is {expected:.4f}"
        logging.info("%s: %s %.4f, %s", format_name, metric, score, comparison)


def _remedy_of(task: AnyTask) -> str:
    """Returns what to do if an export scores lower than the model."""
    config = task.config
    if config.export.quantize:
        return "Export without --quantize"
    # A correlation of nearly equal numbers is one of rounding.
    return (
        "The weights are the same, so only rounding differs, which matters if "
        "the model predicts nearly the same for all rows. Train it longer or "
        "with another --learning_rate"
    )


def _write_export_scores(
    trainer: Trainer,
    folder: Path,
    card: model_card.Card | None,
    scores: Mapping[str, float],
) -> None:
    """Writes the scores of an export to the run's folder and to its card.

    Args:
        trainer: the Trainer of the exported model.
        folder: folder of the export.
        card: card of the export, None if it has none.
        scores: result of `evaluate_export`.
    """
    if not scores:
        logging.info(
            "The export is not checked, because this command does not "
            "evaluate, or no engine can evaluate the export."
        )
        return
    run_folder = trainer.run_folder
    run_folder.results.write_export_scores(scores)
    if card:
        scored_card = dataclasses.replace(
            card,
            export_scores=group_scores(scores),
            is_best_step=trainer.run_weights.is_best_step,
        )
        atomic.write_text(folder / model_card.CARD_FILE, scored_card.text())


def group_scores(scores: Mapping[str, float]) -> dict[str, Scores]:
    """Returns {format: {name of a score: score}}.

    `scores` is the result of `evaluate_export`.
    """
    grouped = {
        format_name: {
            name.removeprefix(f"{format_name}_"): score
            for name, score in scores.items()
            if name.startswith(f"{format_name}_")
        }
        for format_name in engines.FILE_OF_FORMAT
    }
    return {
        format_name: values for format_name, values in grouped.items() if values
    }
