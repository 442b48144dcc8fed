"""Exports the model of a run, and compares each file of the export with it.

This module is a step of the two flows, fine_tuning.py and pretraining.py.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from absl import logging

import serving
from data.io.split_names import suffix_of
from files import atomic
from model_folders import kinds, new_folders
from model_folders.cards import cards
from model_folders.model_entries import HeadSettings
from modeling.task_models import TaskModel
from serving import engines, head_outputs
from training.loop.trainer import Trainer
from training.pretraining_config import PretrainingConfig
from training.sets.splits import splits_of
from training.start import StartingPoint
from training.task import (
    AnyTask,
    Batch,
    ExampleT,
    OriginT,
    Split,
    Splits,
    Task,
)
from training.training_config import TrainingConfig


def export_pretrainer(
    start: StartingPoint[PretrainingConfig], trainer: Trainer, export_dir: str
) -> None:
    """Writes --export_dir. The export accepts text if the vocabulary is set.

    Raises:
        OSError: the export cannot be written.
    """
    options = _options_of(
        start, trainer, start.config.pretraining.max_seq_length
    )
    serving.export(export_dir, trainer.model, {}, options)


def check_model(config: TrainingConfig, model: TaskModel) -> None:
    """Checks before the training that --export_dir can be written after it.

    Raises:
        ValueError: the model is of a class that `serving.export` does not know.
    """
    kind = kinds.kind_of(model)
    export_dir = config.export.export_dir
    if export_dir and kind not in kinds.KINDS:
        raise ValueError(
            f"--export_dir={export_dir}: no signatures are defined for "
            f"a {kind}. Add the class to model_folders/kinds.py and "
            "serving/exporting/export.py, or train without --export_dir"
        )


def export_task(
    task: Task[ExampleT, OriginT],
    trainer: Trainer,
    splits: Splits[ExampleT, OriginT],
    results: Mapping[str, float],
    export_dir: str,
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    Args:
        task: the task.
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
    kind = kinds.kind_of(trainer.model)
    scored = []
    # The export of an embedder computes vectors, and not their cosines.
    if task.metrics[0] in results and kind != kinds.EMBEDDER:
        scored = splits_of(task, splits, "eval")
    logging.info("Exporting %s", trainer.describe_step())
    options = _options_of(
        task.start,
        trainer,
        config.fine_tuning.max_seq_length,
        config.fine_tuning.predict_batch_size,
    )
    with new_folders.new_folder(export_dir) as folder:
        card = serving.export(
            folder, trainer.model, head_settings_of(task), options
        )
        scores = evaluate_export(task, kind, folder, scored)
        if scores:
            trainer.run_folder.write_export_results(scores)
            if card:
                _write_scored_card(folder, card, scores, trainer.is_best_step)
        else:
            logging.info(
                "The export is not checked, because this command does not "
                "evaluate, or no engine can evaluate the export."
            )
        check_export_scores(task, scored, results, scores)
    logging.info("Wrote the export to %s", export_dir)


def head_settings_of(task: AnyTask) -> HeadSettings:
    """Returns the settings of a task's head, for `serving.export`."""
    return {**task.settings, "labels": task.labels, **task.export_settings}


def _options_of(
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


def check_export_scores(
    task: Task[ExampleT, OriginT],
    splits: Sequence[Split[ExampleT, OriginT]],
    results: Mapping[str, float],
    scores: Mapping[str, float],
) -> None:
    """Compares the scores of an export with those of the model.

    Args:
        task: task that computed the scores.
        splits: splits that were evaluated.
        results: the model's scores.
        scores: result of `evaluate_export`.

    Raises:
        ValueError: a file of the export scores lower than --max_export_loss
            allows.
    """
    for format_name, split in itertools.product(engines.RUNTIMES, splits):
        metric = f"{task.metrics[0]}{suffix_of(split.name)}"
        expected = results[metric]
        score = scores.get(f"{format_name}_{metric}")
        if score is None or not math.isfinite(expected):
            continue
        loss = round((expected - score) / task.percentage_point, 6)
        # Write `not <=` instead of `>`, so that NaN is an error too.
        if not loss <= task.config.fine_tuning.max_export_loss:
            remedy = "Export without --quantize"
            if not task.config.export.quantize:
                # A correlation of nearly equal numbers is one of rounding.
                remedy = (
                    "The weights are the same, so only rounding differs, which "
                    "matters if the model predicts nearly the same for all "
                    "rows. Train it longer or with another --learning_rate"
                )
            raise ValueError(
                f"--export_dir={task.config.export.export_dir} was not "
                f"written: its {format_name} file scores {metric} = "
                f"{score:.4f} on the dev set, {loss:.2f} percentage points "
                f"below the model's {expected:.4f}. {remedy}, or increase "
                "--max_export_loss"
            )
        model = f"the model's is {expected:.4f}" if loss else "as the model"
        logging.info("%s: %s %.4f, %s", format_name, metric, score, model)


def _write_scored_card(
    folder: Path,
    card: cards.Card,
    scores: Mapping[str, float],
    is_best_step: bool,
) -> None:
    scored_card = dataclasses.replace(
        card, export_scores=_group_scores(scores), is_best_step=is_best_step
    )
    atomic.write_text(folder / cards.FILE, scored_card.text())


def _group_scores(scores: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Returns {format: {name of a score: score}}.

    `scores` is the result of `evaluate_export`.
    """
    grouped = {
        format_name: {
            name.removeprefix(f"{format_name}_"): score
            for name, score in scores.items()
            if name.startswith(f"{format_name}_")
        }
        for format_name in engines.RUNTIMES
    }
    return {
        format_name: values for format_name, values in grouped.items() if values
    }


def evaluate_export(
    task: Task[ExampleT, OriginT],
    kind: str,
    folder: Path,
    splits: Sequence[Split[ExampleT, OriginT]],
) -> dict[str, float]:
    """Evaluates each format of an export that this machine can run.

    Args:
        task: task that computes the scores.
        kind: class of the exported model, a key of kinds.KINDS.
        folder: folder of the export.
        splits: splits to evaluate.

    Returns:
        {name of the format, "_" and name of the score: score}.

    Raises:
        OSError: a model file cannot be loaded.
        ValueError: a model file fails on the records.
    """
    scores: dict[str, float] = {}
    length = task.config.fine_tuning.max_seq_length
    for format_name, runtime in engines.RUNTIMES.items():
        if not (splits and (folder / runtime.file).is_file()):
            continue
        try:
            engine = engines.open_engine(folder, format_name)
            fixed = engine.inputs["input_ids"][-1]
            if fixed and fixed < length:
                raise ValueError(f"it needs --max_seq_length={fixed}")
        except ValueError as error:
            logging.warning(
                "The %s export was not evaluated: %s", format_name, error
            )
            continue
        for split in splits:
            batches = task.pool(split, _predict(task, kind, engine, split))
            for key, score in task.evaluate(split, batches).items():
                scores[f"{format_name}_{key}{suffix_of(split.name)}"] = score
    return scores


def _predict(
    task: Task[ExampleT, OriginT],
    kind: str,
    engine: engines.Engine,
    split: Split[ExampleT, OriginT],
) -> Iterator[Batch]:
    """Yields features and logits, as the model itself would compute them."""
    max_length = task.config.fine_tuning.max_seq_length
    settings = head_settings_of(task)
    # Pad the inputs as serve.py does, so that serving reaches the same scores.
    needs_padding = kind == kinds.SPAN_LABELER and not task.config.unpads
    lengths = engine.lengths(max_length, needs_padding)
    num_pieces = math.prod(split.records.spec["input_ids"].shape)
    batch_size = max(engines.BUDGET // num_pieces, 1)
    if engine.needs_single_rows:
        batch_size = 1
    for batch in split.create_dataset(batch_size, trim=False):
        features = {name: np.asarray(value) for name, value in batch.items()}
        longest = features["input_mask"].sum(-1).max()
        length = min(size for size in lengths if size >= longest)
        outputs = engine.run(
            {name: _resize(features[name], length) for name in engines.INPUTS}
        )
        logits = head_outputs.to_logits(kind, settings, outputs)
        if isinstance(logits, dict):
            # Logits of positions are as long as the records.
            logits = {
                name: _resize(logits[name], max_length) for name in logits
            }
        yield features, logits


def _resize(values: np.ndarray, size: int) -> np.ndarray:
    """Cuts the last axis to `size`, or pads it with 0."""
    padding = [(0, 0)] * (values.ndim - 1) + [(0, size)]
    return np.pad(values, padding)[..., :size]
