"""The tasks that recipes fine-tune on: their files, scripts and figures."""

import argparse
import dataclasses
import re
import sys
from collections.abc import Callable, Mapping, Sequence
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
        files: that the folder must have, as for `runs.find_missing`.
        figure: name of its figure in eval_results.txt.
        prepare: (folder of the files, folder to write) -> its flags.
        scale: factor that maps the figure to [0, 1].
    """

    script: str
    folder: str
    files: Sequence[str]
    figure: str
    prepare: Callable[[Path, Path], dict[str, object]]
    scale: float = 1.0


def whole(name: str | None) -> Callable[[Path, Path], dict[str, object]]:
    """Uses a task's files unchanged.

    Args:
        name: of the task, None if its script has but one.
    """
    flags = {"task_name": name} if name else {}
    return lambda source, folder: {**flags, "data_dir": source}


def read_lines(path: Path, minimum: int = 1) -> list[str]:
    """Returns the lines of a task's file, the first of which names its columns.

    Args:
        path: the file.
        minimum: number of examples that it must have.

    Raises:
        OSError: the file cannot be read.
        ValueError: it has too few examples, or is not UTF-8.
    """
    try:
        lines = path.read_text("utf-8").splitlines(True)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error
    if len(lines) <= minimum:
        raise ValueError(
            f"{path} has {max(len(lines) - 1, 0)} examples below its first "
            f"line; the recipe needs {minimum} or more"
        )
    return lines


def first_examples(source: Path, folder: Path) -> dict[str, object]:
    """SST-2: the first 20,000 examples."""
    lines = read_lines(source / "train.tsv")
    write_text(folder / "train.tsv", "".join(lines[:20_001]))
    copy_file(source / "dev.tsv", folder / "dev.tsv")
    return {"task_name": "sst-2", "data_dir": folder}


def part_of_dev(source: Path, folder: Path) -> dict[str, object]:
    """QNLI, from its dev set alone: the last 1,000 examples to evaluate."""
    header, *lines = read_lines(source / "dev.tsv", minimum=1001)
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


def classification(
    folder: str,
    figure: str,
    prepare: Callable[[Path, Path], dict[str, object]],
    files: Sequence[str] = TRAIN_AND_DEV,
) -> Recipe:
    """Returns a task of run_classifier.py."""
    return Recipe("run_classifier.py", folder, files, figure, prepare)


TASKS = {
    "SST-2": classification("SST-2", "eval_accuracy", first_examples),
    "MRPC": classification("MRPC", "eval_accuracy", whole("mrpc")),
    "CoLA": classification("CoLA", "matthews", whole("cola")),
    "RTE": classification("RTE", "eval_accuracy", whole("rte")),
    "STS-B": classification("STS-B", "pearson", without_dev),
    "QNLI": classification("QNLI", "eval_accuracy", part_of_dev, ["dev.tsv"]),
    "SQuAD": Recipe(
        "run_squad.py",
        "squad",
        ("train-v1.1.json", "dev-v1.1.json"),
        "f1",
        first_articles(3, 1, doc_stride=64, max_query_length=32),
        scale=0.01,
    ),
    "CoNLL": Recipe("run_ner.py", "conll2003", CONLL_FILES, "f1", whole(None)),
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
    (figure,) = runs.read_results(results, task.figure)
    return task.scale * figure


def create_flags(
    options: argparse.Namespace,
    recipes: Mapping[str, Recipe],
    bert_config_file: Path,
    rows: str,
    **shared: object,
) -> dict[str, dict[str, object]]:
    """Creates the files of the tasks whose folder exists.

    Args:
        options: `data_dir` has a folder for each task, `output_dir` gets one
            for each; `model_dir` has the vocabulary; and `mixed_precision`.
        recipes: {name: Recipe}.
        bert_config_file: of the model.
        rows: pattern of the rows' folders in `output_dir`.
        **shared: more flags of all tasks, such as max_seq_length.

    Returns:
        {name: flags of its script}.

    Raises:
        SystemExit: `model_dir` or a task lacks a file, no task has files, or
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
    needed = ("vocab.txt", "bert_config.json or config.json")
    if missing := runs.find_missing(options.model_dir, needed):
        sys.exit(
            f"error: --model_dir: there is no {missing}; give a folder that "
            f"holds {', '.join(needed)}"
        )
    data, found = options.output_dir / "data", {}
    for name, task in recipes.items():
        source = options.data_dir / task.folder
        if not source.is_dir():
            continue
        if missing := runs.find_missing(source, task.files):
            sys.exit(
                f"error: --data_dir: there is no {missing}; add it, or take "
                f"{source} away"
            )
        if (data / name).exists() and (data / name).samefile(source):
            sys.exit(
                f"error: {data / name} is where the recipe writes its own part "
                "of the data; give another --output_dir"
            )
        found[name] = source
    if not found:
        folders = ", ".join(task.folder for task in recipes.values())
        sys.exit(
            f"error: --data_dir={options.data_dir} has none of the folders "
            f"{folders}"
        )
    # Before the data's parts are written, lest a user's files be replaced.
    runs.write_once(
        options.output_dir / "settings.json",
        settings,
        [*data.glob("*/*"), *options.output_dir.glob(rows)],
    )
    return {
        name: common | recipes[name].prepare(source, data / name)
        for name, source in found.items()
    }
