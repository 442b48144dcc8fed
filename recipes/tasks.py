"""The tasks that recipes fine-tune on: their files, scripts and figures."""

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import runs

from data.squad.reading import read_squad_json
from files.atomic import copy_file, write_json, write_text

# What a run writes; copies that a user made are kept.
_WEIGHTS = re.compile(r"model\.ckpt-\d+\.(index|data-00000-of-00001)")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A task, with its files and training.

    Attributes:
        script: what runs it.
        folder: of its files in --data_dir.
        figure: name of its figure in eval_results.txt.
        prepare: (folder of the files, folder to write) -> its flags.
        scale: factor that maps the figure to [0, 1].
    """

    script: str
    folder: str
    figure: str
    prepare: Callable[[Path, Path], dict[str, object]]
    scale: float = 1.0


def whole(
    name: str | None, *files: str
) -> Callable[[Path, Path], dict[str, object]]:
    """Uses a task's files unchanged.

    Args:
        name: of the task, None if its script has but one.
        *files: those that must be there, with "or" between names of the same.
    """
    flags = {"task_name": name} if name else {}

    def prepare(source: Path, folder: Path) -> dict[str, object]:
        if missing := runs.find_missing(source, files):
            raise FileNotFoundError(
                f"--data_dir: there is no {missing}; add it, or leave out "
                f"{source.name}"
            )
        return {**flags, "data_dir": source}

    return prepare


def read_lines(path: Path) -> list[str]:
    """Returns the lines of a task's file, the first of which names its columns.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds no example.
    """
    lines = path.read_text("utf-8").splitlines(True)
    if len(lines) < 2:
        raise ValueError(f"{path} holds no examples below its first line")
    return lines


def first_examples(source: Path, folder: Path) -> dict[str, object]:
    """SST-2: the first 20,000 examples."""
    lines = read_lines(source / "train.tsv")
    write_text(folder / "train.tsv", "".join(lines[:20_001]))
    copy_file(source / "dev.tsv", folder / "dev.tsv")
    return {"task_name": "sst-2", "data_dir": folder}


def part_of_dev(source: Path, folder: Path) -> dict[str, object]:
    """QNLI, from its dev set alone: the last 1,000 examples to evaluate."""
    header, *lines = read_lines(source / "dev.tsv")
    for name, part in (("train", lines[:-1000]), ("dev", lines[-1000:])):
        write_text(folder / f"{name}.tsv", "".join([header, *part]))
    return {"task_name": "qnli", "data_dir": folder}


def without_dev(source: Path, folder: Path) -> dict[str, object]:
    """STS-B: a train set without the dev set's pairs."""

    def pair(line: str) -> list[str]:
        return line.split("\t")[7:9]

    train, dev = (
        read_lines(source / f"{name}.tsv") for name in ("train", "dev")
    )
    held_out = {tuple(pair(line)) for line in dev[1:]}
    kept = [line for line in train[1:] if tuple(pair(line)) not in held_out]
    write_text(folder / "train.tsv", "".join([train[0], *kept]))
    copy_file(source / "dev.tsv", folder / "dev.tsv")
    return {"task_name": "sts-b", "data_dir": folder}


def first_articles(
    num_train: int, num_dev: int, **flags: object
) -> Callable[[Path, Path], dict[str, object]]:
    """SQuAD v1.1: its first articles.

    Args:
        num_train: articles to train on.
        num_dev: articles to answer.
        **flags: of run_squad.py.
    """

    def prepare(source: Path, folder: Path) -> dict[str, object]:
        for name, number in (("train", num_train), ("dev", num_dev)):
            articles = read_squad_json(source / f"{name}-v1.1.json")
            write_json(folder / f"{name}.json", {"data": articles[:number]})
        return flags | {
            "train_file": folder / "train.json",
            "predict_file": folder / "dev.json",
        }

    return prepare


TRAIN_AND_DEV = ("train.tsv", "dev.tsv")
CONLL_FILES = ("train.txt or eng.train", "valid.txt or dev.txt or eng.testa")
TASKS = {
    "SST-2": Recipe(
        "run_classifier.py", "SST-2", "eval_accuracy", first_examples
    ),
    "MRPC": Recipe(
        "run_classifier.py",
        "MRPC",
        "eval_accuracy",
        whole("mrpc", *TRAIN_AND_DEV),
    ),
    "CoLA": Recipe(
        "run_classifier.py", "CoLA", "matthews", whole("cola", *TRAIN_AND_DEV)
    ),
    "RTE": Recipe(
        "run_classifier.py",
        "RTE",
        "eval_accuracy",
        whole("rte", *TRAIN_AND_DEV),
    ),
    "STS-B": Recipe("run_classifier.py", "STS-B", "pearson", without_dev),
    "QNLI": Recipe("run_classifier.py", "QNLI", "eval_accuracy", part_of_dev),
    "SQuAD": Recipe(
        "run_squad.py",
        "squad",
        "f1",
        first_articles(3, 1, doc_stride=64, max_query_length=32),
        scale=0.01,
    ),
    "CoNLL": Recipe(
        "run_ner.py",
        "conll2003",
        "f1",
        whole(None, *CONLL_FILES),
    ),
}


def run_row(
    task: Recipe,
    flags: dict[str, object],
    checkpoint: Path | None,
    folder: Path,
    train: bool = True,
    export_weights: Path | None = None,
) -> float:
    """Fine-tunes or evaluates once, or reads an earlier command's result.

    Args:
        task: Recipe.
        flags: of the script, for all rows of the task.
        checkpoint: weights to start from; None for random ones.
        folder: of this run.
        train: False to evaluate `checkpoint` as it is.
        export_weights: folder for the model's weights.

    Returns:
        the task's figure, between 0 and 1.
    """
    figure = read_figure(task, folder)
    if export_weights is not None:
        # The last file of an export, which follows the evaluation.
        if not (export_weights / "bert_model.ckpt.index").exists():
            figure = None
    if figure is None:
        # run_squad.py evaluates what it predicts.
        mode = "do_predict" if task.script == "run_squad.py" else "do_eval"
        runs.run(
            task.script,
            folder.with_name(f"{folder.name}.log"),
            {"num_train_epochs": 3}
            | flags
            | {
                "init_checkpoint": checkpoint,
                "output_dir": folder,
                "export_weights": export_weights,
                "do_train": train or None,
                mode: True,
                "save_checkpoints_steps": 1_000_000,
                "keep_checkpoint_max": 1,
            },
        )
        # The weights are no longer needed.
        for path in folder.glob("model.ckpt-*"):
            if _WEIGHTS.fullmatch(path.name):
                path.unlink()
        figure = read_figure(task, folder)
        assert figure is not None
    return figure


def read_figure(task: Recipe, folder: Path) -> float | None:
    """Returns the figure of a finished run, from 0 to 1; None if it is not."""
    results = folder / "eval_results.txt"
    if not results.exists():
        return None
    found = runs.read_results(results)
    if task.figure not in found:
        raise ValueError(
            f"{results} has no {task.figure}; remove it to run its command "
            "again"
        )
    return task.scale * found[task.figure]


def create_flags(
    options: argparse.Namespace,
    recipes: Mapping[str, Recipe],
    bert_config_file: Path,
    **shared: object,
) -> dict[str, dict[str, object]]:
    """Creates the files of the tasks whose folder exists.

    Args:
        options: `data_dir` has a folder for each task, `output_dir` gets one
            for each; `model_dir` has the vocabulary; and `mixed_precision`.
        recipes: {name: Recipe}.
        bert_config_file: of the model.
        **shared: more flags of all tasks, such as max_seq_length.

    Returns:
        {name: flags of its script}.

    Raises:
        SystemExit: `model_dir` lacks a file, no task has files, or
            `output_dir` has rows or files of other settings.
    """
    settings = {
        "model_dir": str(options.model_dir.resolve()),
        "data_dir": str(options.data_dir.resolve()),
        "mixed_precision": options.mixed_precision,
        **shared,
    }
    common = {
        "vocab_file": options.model_dir / "vocab.txt",
        "bert_config_file": bert_config_file,
        "train_batch_size": 32,
        "mixed_precision": options.mixed_precision,
        **shared,
    }
    needed = ("vocab.txt", "bert_config.json")
    if missing := runs.find_missing(options.model_dir, needed):
        sys.exit(
            f"error: --model_dir: there is no {missing}; the folder must hold "
            f"{' and '.join(needed)}"
        )
    found = {
        name: options.data_dir / task.folder
        for name, task in recipes.items()
        if (options.data_dir / task.folder).is_dir()
    }
    if not found:
        folders = ", ".join(task.folder for task in recipes.values())
        sys.exit(
            f"error: --data_dir={options.data_dir} has none of the folders "
            f"{folders}"
        )
    # Before anything is written, so that no other command's files are replaced.
    runs.write_once(
        options.output_dir / "settings.json",
        settings,
        [
            *options.output_dir.glob("data/*/*"),
            *options.output_dir.rglob("eval_results.txt"),
        ],
    )
    return {
        name: common
        | recipes[name].prepare(source, options.output_dir / "data" / name)
        for name, source in found.items()
    }
