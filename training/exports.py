"""Exports a fine-tuned model, and compares the export with the model."""

import functools
import math
import os
from collections.abc import Mapping
from pathlib import Path

from absl import logging

from files import folders
from training.splits import Split, names_of, suffix_of
from training.task import Task
from training.trainer import Trainer

Splits = Mapping[str, Split]
# {format of an export: {score: value}}. Each score's name ends in the suffix of
# its split (see `suffix_of`).
Scores = Mapping[str, Mapping[str, float]]


def export(
    task: Task, trainer: Trainer, splits: Splits, results: Mapping[str, float]
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    Args:
        task: the task.
        trainer: the Trainer whose model is exported.
        splits: the splits that the command evaluates or predicts.
        results: the model's scores on the dev set, or {} if unknown.

    Raises:
        OSError: the export cannot be written.
        ValueError: the export's score is lower than --max_export_loss allows.
            An earlier export does not change.
    """
    path = Path(trainer.config.export_dir)
    logging.info("Exporting %s", trainer.described_step)
    if task.metrics[0] not in results:
        logging.info(
            "The export is not checked, because this command does not evaluate."
        )
        task.export(os.fspath(path), trainer.model)
    else:
        with folders.new_folder(path) as folder:
            task.export(os.fspath(folder), trainer.model)
            found = _evaluate(task, trainer, folder, splits)
            _check_loss(task, trainer, splits, found, results)
    logging.info("Wrote the export to %s", path)


def _evaluate(
    task: Task, trainer: Trainer, folder: Path, splits: Splits
) -> Scores:
    """Evaluates an export, and writes export_eval_results.txt.

    Returns {} if no engine can run the export.
    """
    found: dict[str, dict[str, float]] = {}
    for name in names_of(task, splits, "eval"):
        by_format = task.evaluate_export(
            os.fspath(folder),
            name,
            functools.partial(
                splits[name].create_dataset, trim=trainer.config.unpads
            ),
        )
        for form, scores in by_format.items():
            named = {f"{k}{suffix_of(name)}": v for k, v in scores.items()}
            found.setdefault(form, {}).update(named)
    if found:
        every = {
            f"{form}_{name}": value
            for form, scores in found.items()
            for name, value in scores.items()
        }
        trainer.write_results("export_eval_results.txt", every)
    else:
        logging.warning(
            "The export is not checked, because no installed engine could "
            "evaluate it."
        )
    return found


def _check_loss(
    task: Task,
    trainer: Trainer,
    splits: Splits,
    found: Scores,
    results: Mapping[str, float],
) -> None:
    """Checks that the first metric of an export is not much below the model's.

    Raises:
        ValueError: it is lower by more percentage points than --max_export_loss
            allows, or it is not finite.
    """
    config = trainer.config
    for form, scores in found.items():
        for split in names_of(task, splits, "eval"):
            name = f"{task.metrics[0]}{suffix_of(split)}"
            if not math.isfinite(results[name]):
                continue
            score = scores.get(name, math.nan)
            loss = (results[name] - score) / task.hundredth
            # Write `not <=` instead of `>`, so that NaN counts as too large.
            if not round(loss, 6) <= config.max_export_loss:
                raise ValueError(
                    f"--export_dir={config.export_dir} was not written: its "
                    f"{form} file scores {name} = {score:.4f} on the dev set, "
                    f"{loss:.2f} percentage points below the model's "
                    f"{results[name]:.4f}. Export without --quantize, or set "
                    f"--max_export_loss above {config.max_export_loss:g}"
                )
