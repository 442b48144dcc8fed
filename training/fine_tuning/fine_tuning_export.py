"""Exports the model of a run, unless the export scores much lower.

This module is a step of the two flows, fine_tuning.py and pretraining.py.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from absl import logging

import serving
from files import atomic
from model_folders import atomic_folders, kinds
from model_folders.cards import model_card
from modeling.base_task_model import AnyTaskModel
from training.config.pretraining_config import PretrainingConfig
from training.config.training_config import TrainingConfig
from training.loop.trainer import Trainer
from training.sets.splits import splits_of
from training.shared_flow import export_scores
from training.start.starting_point import StartingPoint
from training.task import (
    ExampleT,
    OriginT,
    OutputsT,
    Splits,
    Task,
)


def export_pretrainer(
    start: StartingPoint[PretrainingConfig], trainer: Trainer, export_dir: str
) -> None:
    """Writes --export_dir. The export accepts text if the vocabulary is set.

    Raises:
        OSError: the export cannot be written.
    """
    options = _create_export_options(
        start, trainer, start.config.pretraining.max_seq_length
    )
    serving.export(export_dir, trainer.model, {}, options)


def check_can_export(config: TrainingConfig, model: AnyTaskModel) -> None:
    """Checks before the training that --export_dir can be written after it.

    Raises:
        ValueError: the model is of a class that `serving.export` does not know.
    """
    model_class = kinds.model_class_of(model)
    export_dir = config.export.export_dir
    if export_dir and model_class not in kinds.KIND_OF_CLASS:
        raise ValueError(
            f"--export_dir={export_dir}: no signatures are defined for "
            f"a {model_class}. Add the class to model_folders/kinds.py and "
            "serving/exporting/export.py, or train without --export_dir"
        )


def export_task(
    task: Task[ExampleT, OriginT, OutputsT],
    trainer: Trainer,
    splits: Splits[ExampleT, OriginT],
    results: Mapping[str, float],
    export_dir: str,
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    Args:
        task: states the settings of the head, and evaluates the export.
        trainer: the Trainer, with the weights to export.
        splits: the splits that the command evaluates or predicts.
        results: the model's scores on the dev set, {} if they are unknown.
        export_dir: folder of the export.

    Raises:
        OSError: the export cannot be written.
        ValueError: the export's score is lower than --max_export_loss allows.
            An earlier export does not change.
    """
    config = task.config
    model_class = kinds.listed_class_of(trainer.model)
    scored = []
    # The export of an embedder computes vectors, and not their cosines.
    if task.metrics[0] in results and model_class != kinds.EMBEDDER:
        scored = splits_of(task, splits, "eval")
    logging.info("Exporting %s", trainer.run_weights.describe())
    options = _create_export_options(
        task.start,
        trainer,
        config.fine_tuning.max_seq_length,
        config.fine_tuning.predict_batch_size,
    )
    with atomic_folders.atomic_folder(export_dir) as folder:
        card = serving.export(
            folder, trainer.model, task.head_settings, options
        )
        scores = export_scores.evaluate_export(
            task, model_class, folder, scored
        )
        if scores:
            trainer.run_folder.write_export_results(scores)
            if card:
                _write_scored_card(
                    folder,
                    card,
                    scores,
                    is_best_step=trainer.run_weights.is_best_step,
                )
        else:
            logging.info(
                "The export is not checked, because this command does not "
                "evaluate, or no engine can evaluate the export."
            )
        export_scores.check_export_scores(task, scored, results, scores)
    logging.info("Wrote the export to %s", export_dir)


def _create_export_options(
    start: StartingPoint[TrainingConfig],
    trainer: Trainer,
    max_seq_length: int,
    predict_batch_size: int = 32,
) -> serving.ExportOptions:
    flags = start.config.export
    return serving.ExportOptions(
        tokenizer=start.tokenizer,
        max_seq_length=max_seq_length,
        predict_batch_size=predict_batch_size,
        formats=flags.export_formats,
        fixed_length=flags.export_seq_length,
        quantize=flags.quantize,
        weights=trainer.run_folder.current_preset,
    )


def _write_scored_card(
    folder: Path,
    card: model_card.Card,
    scores: Mapping[str, float],
    *,
    is_best_step: bool,
) -> None:
    scored_card = dataclasses.replace(
        card,
        export_scores=export_scores.group_scores(scores),
        is_best_step=is_best_step,
    )
    atomic.write_text(folder / model_card.CARD_FILE, scored_card.text())
