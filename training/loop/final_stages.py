"""Stores, exports and logs what a command has trained.

`fine_tune` and `pretrain` end with these stages.
"""

import datetime
from collections.abc import Sequence

from absl import logging

import modeling
from dependencies.installation import with_command_names
from exporting.export_options import ExportOptions
from model_folders import kinds
from model_folders.cards import model_card
from model_folders.cards.copied_model_json import create_model_json_of_copy
from model_folders.scores import Evaluation
from training.loop.trainer import Trainer
from training.run_files.run_folder import RunFolder


def store_weights(trainer: Trainer, evaluation: Evaluation | None) -> None:
    """Stores the best step's weights once, and writes --export_weights.

    Args:
        trainer: has the weights to store.
        evaluation: the evaluation of this command, None if it evaluated
            nothing. The card of --export_weights shows the scores of its step.
    """
    trainer.run_folder.best_step.link_weights()
    path = trainer.config.training.export_weights
    if path is not None:
        _export_weights(trainer, path, evaluation)


def _export_weights(
    trainer: Trainer, path: str, evaluation: Evaluation | None
) -> None:
    """Writes the current weights to a folder, as Google's releases.

    It contains their files (bert_model.ckpt, bert_config.json, vocab.txt),
    model.json, and labels.txt if the model's outputs are labels.
    """
    run_folder = trainer.run_folder
    step = trainer.run_weights.global_step
    tokenizer = trainer.starting_point.tokenizer
    contents = create_model_json_of_copy(
        trainer.run_weights.preset,
        kinds.model_class_of(trainer.model),
        step=step or None,
    )
    card = model_card.WeightsCard(
        model_json=contents,
        labels=run_folder.labels,
        do_lower_case=tokenizer.do_lower_case if tokenizer else None,
        results=run_folder.find_dev_scores(step, evaluation),
    )
    modeling.save_release(
        trainer.model,
        path,
        tokenizer=tokenizer,
        labels=run_folder.labels,
        files=card.create_copy_files(),
    )
    logging.info("Wrote the weights to %s", path)


def create_export_options(
    trainer: Trainer, *, predict_batch_size: int = 32
) -> ExportOptions:
    """Creates the options of an export of a run's weights, by the flags.

    Args:
        trainer: has the weights to export, and the flags.
        predict_batch_size: number of inputs that the export computes at once.
    """
    config = trainer.config
    return ExportOptions(
        tokenizer=trainer.starting_point.tokenizer,
        max_seq_length=config.max_seq_length,
        predict_batch_size=predict_batch_size,
        formats=config.export.export_formats,
        fixed_length=config.export.export_seq_length,
        quantize=config.export.quantize,
        weights=trainer.run_weights.preset,
    )


def log_end(
    run_folder: RunFolder,
    score_lines: Sequence[str],
    commands: Sequence[str],
    seconds: float,
) -> None:
    """Logs the score, the reports, and what to do next.

    Args:
        run_folder: folder of the run, with the reports to name.
        score_lines: lines about the scores.
        commands: commands that use the model.
        seconds: duration of this command.
    """
    shown_files = run_folder.results.list_shown_files()
    typed = map(with_command_names, commands)
    lines = [*score_lines, *shown_files, *typed]
    duration = datetime.timedelta(seconds=round(seconds))
    logging.info("Done in %s\n  %s", duration, "\n  ".join(lines))
