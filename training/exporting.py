"""Exports a fine-tuned model, and compares each file of the export with it."""

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging

from data.ner import legal_tags
from files import atomic, folders
from modeling import descriptions, kinds
from modeling.results import format_markdown
from serving import engines
from training.splits import Split, names_of, suffix_of
from training.task import Task
from training.trainer import Trainer


def export_task(
    task: Task,
    trainer: Trainer,
    splits: Mapping[str, Split],
    results: Mapping[str, float],
) -> None:
    """Writes --export_dir, unless the export is much worse than the model.

    `splits` are those that the command evaluates or predicts. `results` are the
    model's scores on the dev set, or {} if unknown.

    Raises:
        OSError: the export cannot be written.
        ValueError: the export's score is lower than --max_export_loss allows.
            An earlier export does not change.
    """
    path, main = trainer.config.export_dir, task.metrics[0]
    names = names_of(task, splits, "eval") if main in results else []
    if trainer.config.head == kinds.EMBEDDER:
        names = []  # Its export computes vectors, and not their cosines.
    logging.info("Exporting %s", trainer.described_step)
    with folders.new_folder(path) as folder:
        task.export(os.fspath(folder), trainer.model)
        found = evaluate_export(task, folder, {x: splits[x] for x in names})
        if found:
            trainer.write_results("export_eval_results.txt", found)
            card = folder / descriptions.CARD
            # A multiple-choice model, which reads no text, has no card.
            if card.exists():
                _add_to_card(card, found, trainer.has_best)
        else:
            logging.info(
                "The export is not checked, because this command does not "
                "evaluate, or no engine can evaluate the export."
            )
        for form, name in itertools.product(engines.RUNTIMES, names):
            metric = f"{main}{suffix_of(name)}"
            expected, score = results[metric], found.get(f"{form}_{metric}")
            if score is None or not math.isfinite(expected):
                continue
            loss = round((expected - score) / task.hundredth, 6)
            # Write `not <=` instead of `>`, so that NaN is an error too.
            if not loss <= trainer.config.max_export_loss:
                raise ValueError(
                    f"--export_dir={path} was not written: its {form} file "
                    f"scores {metric} = {score:.4f} on the dev set, {loss:.2f} "
                    f"percentage points below the model's {expected:.4f}. "
                    "Export without --quantize, or increase --max_export_loss"
                )
            model = f"the model's is {expected:.4f}" if loss else "as the model"
            logging.info("%s: %s %.4f, %s", form, metric, score, model)
    logging.info("Wrote the export to %s", path)


# Adds the scores of each format to the card of an export, before its use.
def _add_to_card(
    path: Path, scores: Mapping[str, float], is_best: bool
) -> None:
    start, use, end = path.read_text("utf-8").partition("## Use\n")
    for form in engines.RUNTIMES:
        names = [name for name in scores if name.startswith(f"{form}_")]
        found = {name.removeprefix(f"{form}_"): scores[name] for name in names}
        if found:
            lines = [f"## Scores of {form} on the dev set", ""]
            start += "\n".join([*lines, *format_markdown(found), "", ""])
    if is_best:
        start += "The dev set chose the step: expect less on other data.\n\n"
    atomic.write_text(path, start + use + end)


def evaluate_export(
    task: Task, folder: Path, splits: Mapping[str, Split]
) -> dict[str, float]:
    """Evaluates each format of an export that this machine can run.

    Returns {name of the format, "_" and name of the score: score}.

    Raises:
        OSError: a model file cannot be loaded.
        ValueError: a model file fails on the records.
    """
    scores: dict[str, float] = {}
    for form, runtime in engines.RUNTIMES.items():
        if not (splits and (folder / runtime.file).is_file()):
            continue
        try:
            engine = engines.open_engine(folder, form)
            fixed = engine.inputs["input_ids"][-1]
            if fixed and fixed < task.options.max_seq_length:
                raise ValueError(f"it needs --max_seq_length={fixed}")
        except ValueError as error:
            logging.warning("The %s export was not evaluated: %s", form, error)
            continue
        for name, split in splits.items():
            batches = task.pool(name, _run(task, engine, split))
            for key, score in task.evaluate(name, batches).items():
                scores[f"{form}_{key}{suffix_of(name)}"] = score
    return scores


def _run(
    task: Task, engine: engines.Engine, split: Split
) -> Iterator[tuple[dict[str, np.ndarray], Any]]:
    config, size = task.options, task.options.max_seq_length
    # Pad the inputs as serve.py does, so that serving reaches the same scores.
    pads = config.head == kinds.SPAN_LABELER and not config.unpads
    lengths = engine.lengths(size, pads)
    num_pieces = math.prod(split.records.spec["input_ids"].shape)
    batch_size = 1 if engine.is_row_wise else engines.BUDGET // num_pieces or 1
    for batch in split.create_dataset(batch_size, trim=False):
        features = {name: np.asarray(value) for name, value in batch.items()}
        longest = features["input_mask"].sum(-1).max()
        length = min(each for each in lengths if each >= longest)
        outputs = engine.run(
            {name: _fit(features[name], length) for name in engines.INPUTS}
        )
        if "values" in outputs:
            yield features, outputs["values"][:, None]
        elif "logits" in outputs:
            yield features, outputs["logits"]
        elif "probabilities" in outputs:
            values = outputs["probabilities"]
            if task.settings.get("output_mode") == "multilabel":
                # As in logits, all labels above 0 are predicted.
                yield features, values - 0.5
            else:
                # The best legal tags have the largest sum of logarithms.
                yield features, legal_tags.to_scores(values)
        else:
            # These outputs are logits of the positions.
            yield features, {x: _fit(outputs[x], size) for x in outputs}


def _fit(values: np.ndarray, size: int) -> np.ndarray:
    # Cuts the last axis to `size`, or pads it with 0.
    padding = [*[(0, 0)] * (values.ndim - 1), (0, size)]
    return np.pad(values, padding)[..., :size]
