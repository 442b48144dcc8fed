"""Exports a fine-tuned model, unless the export scores much lower.

Each format of the export is evaluated on the dev sets, before the export
replaces an earlier one.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from absl import logging

from data.arrays import Batch, OutputsT
from data.sets.set_names import suffix_of
from exporting import export_formats
from exporting.export_formats import ExportFormat
from exporting.export_writer import export
from files import atomic
from model_folders import atomic_folders, kinds
from model_folders.cards import model_card
from model_folders.kinds import ModelClass
from model_folders.scores import Scores, merge_scores
from serving import engines
from training.config.fine_tuning_config import FineTuningConfig
from training.fine_tuning.dev_set_scores import score_dev_set
from training.fine_tuning.fine_tuner import FineTuner
from training.loop import final_stages
from training.loop.trainer import Trainer
from training.task import (
    AnyEncodedSet,
    AnyFineTuningTask,
    ContextT,
    EncodedSet,
    ExampleT,
    FineTuningTask,
)


def export_model(
    fine_tuner: FineTuner[ExampleT, ContextT, OutputsT],
    model_scores: Scores,
    export_dir: str,
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    Args:
        fine_tuner: has the weights to export. Its task evaluates the export.
        model_scores: the model's scores on the dev set, empty if unknown.
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
    scored_sets: list[EncodedSet[ExampleT, ContextT]] = []
    scoring = task.scoring
    if scoring.main_metric in model_scores.overall and scoring.can_score_export:
        scored_sets = fine_tuner.dev_sets
    options = final_stages.create_export_options(
        trainer, predict_batch_size=config.fine_tuning.predict_batch_size
    )
    logging.info("Exporting %s", trainer.run_weights.describe())
    with atomic_folders.atomic_folder(export_dir) as folder:
        card = export(folder, trainer.model, task.head_settings, options)
        scores_of_format = evaluate_export(
            task, model_class, folder, scored_sets
        )
        # The run's folder keeps the scores of an export that the check refuses.
        _write_export_scores(trainer, folder, card, scores_of_format)
        check_export_scores(task, scored_sets, model_scores, scores_of_format)
    logging.info("Wrote the export to %s", export_dir)


def evaluate_export(
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
    model_class: ModelClass,
    folder: Path,
    dev_sets: Sequence[EncodedSet[ExampleT, ContextT]],
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
    length = task.config.max_seq_length
    for format_name, file in export_formats.FILE_OF_FORMAT.items():
        if not (dev_sets and (folder / file).is_file()):
            continue
        engine = _open_engine(folder, format_name, length)
        if engine is None:
            continue
        scores = []
        for dev_set in dev_sets:
            batches = _predict_batches(task, model_class, engine, dev_set)
            pooled = task.pool(dev_set, batches)
            scores.append(score_dev_set(task, dev_set, pooled))
        scores_of_format[format_name] = merge_scores(*scores)
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
    task: FineTuningTask[FineTuningConfig, ExampleT, ContextT, OutputsT],
    model_class: ModelClass,
    engine: engines.Engine,
    encoded_set: EncodedSet[ExampleT, ContextT],
) -> Iterator[Batch[OutputsT]]:
    """Yields features and logits, as the model itself would compute them."""
    max_seq_length = task.config.max_seq_length
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
                name: engines.resize_last_axis(logits[name], max_seq_length)
                for name in logits
            }
        # The logits have the structure of the model's outputs.
        yield features, cast("OutputsT", logits)


def _write_export_scores(
    trainer: Trainer,
    folder: Path,
    card: model_card.ExportCard | None,
    scores_of_format: Mapping[str, Scores],
) -> None:
    """Writes the scores of an export to the run's folder and to its card."""
    if not scores_of_format:
        logging.info(
            "The export is not checked, because this command does not "
            "evaluate, or no engine can evaluate the export."
        )
        return
    run_folder = trainer.run_folder
    run_folder.results.write_export_scores(scores_of_format)
    if card:
        scored_card = dataclasses.replace(
            card,
            scores_of_format=scores_of_format,
            is_best_step=trainer.run_weights.is_best_step,
        )
        atomic.write_text(folder / model_card.CARD_FILE, scored_card.text())


def check_export_scores(
    task: AnyFineTuningTask,
    encoded_sets: Sequence[AnyEncodedSet],
    model_scores: Scores,
    scores_of_format: Mapping[str, Scores],
) -> None:
    """Compares the scores of an export with those of the model.

    Args:
        task: names the metrics, and holds --max_export_loss.
        encoded_sets: dev sets that were evaluated.
        model_scores: scores of the model.
        scores_of_format: result of `evaluate_export`.

    Raises:
        ValueError: a file of the export scores lower than --max_export_loss
            allows.
    """
    for format_name, scores in scores_of_format.items():
        for encoded_set in encoded_sets:
            metric = f"{task.scoring.main_metric}{suffix_of(encoded_set.name)}"
            _check_export_score(
                task,
                format_name,
                metric,
                expected=model_scores.overall[metric],
                score=scores.overall[metric],
            )


def _check_export_score(
    task: AnyFineTuningTask,
    format_name: str,
    metric: str,
    *,
    expected: float,
    score: float,
) -> None:
    """Compares one score of an export with the model's, and logs it.

    If the score of the model, `expected`, is not finite, any score is valid.
    """
    if not math.isfinite(expected):
        return
    config = task.config
    points_lost = round((expected - score) / task.scoring.percentage_point, 6)
    # Write `not <=` instead of `>`, so that NaN is an error too.
    if not points_lost <= config.fine_tuning.max_export_loss:
        raise ValueError(
            f"--export_dir={config.export.export_dir} was not written: its "
            f"{format_name} file scores {metric} = {score:.4f} on the dev "
            f"set, {points_lost:.2f} percentage points below the model's "
            f"{expected:.4f}. {_remedy_of(task)}, or increase "
            "--max_export_loss"
        )
    comparison = "as the model"
    if points_lost:
        comparison = f"the model's is {expected:.4f}"
    logging.info("%s: %s %.4f, %s", format_name, metric, score, comparison)


def _remedy_of(task: AnyFineTuningTask) -> str:
    """Returns advice for an export that scores lower than the model."""
    config = task.config
    if config.export.quantize:
        return "Export without --quantize"
    # A correlation of nearly equal numbers is one of rounding.
    return (
        "The weights are the same, so only rounding differs, which matters if "
        "the model predicts nearly the same for all rows. Train it longer or "
        "with another --learning_rate"
    )
