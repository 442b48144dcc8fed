"""Exports a fine-tuned model, unless the export scores much lower."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from absl import logging

import serving
from files import atomic
from model_folders import atomic_folders, kinds
from model_folders.cards import model_card
from training.flows import export_scores, run_ending
from training.flows.fine_tuning_run import AnyFineTuningRun


def export_model(
    run: AnyFineTuningRun, model_scores: Mapping[str, float], export_dir: str
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    Args:
        run: the run, with the weights to export. Its task evaluates the export.
        model_scores: the model's scores on the dev set, {} if they are unknown.
        export_dir: folder of the export.

    Raises:
        OSError: the export cannot be written.
        ValueError: the export's score is lower than --max_export_loss allows.
            An earlier export does not change.
    """
    task = run.task
    trainer = run.trainer
    config = task.config
    model_class = kinds.listed_class_of(trainer.model)
    scored = []
    # The export of an embedder computes vectors, and not their cosines.
    if task.metrics[0] in model_scores and model_class != kinds.EMBEDDER:
        scored = run.dev_sets
    logging.info("Exporting %s", trainer.run_weights.describe())
    options = run_ending.create_export_options(
        task.start,
        trainer.run_folder,
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
            trainer.run_folder.results.write_export_scores(scores)
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
        export_scores.check_export_scores(task, scored, model_scores, scores)
    logging.info("Wrote the export to %s", export_dir)


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
