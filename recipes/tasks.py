"""The tasks that recipes fine-tune on: their files, scripts and figures."""

import argparse
import dataclasses
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import runs

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


def whole(name: str | None) -> Callable[[Path, Path], dict[str, object]]:
    """Uses a task's files unchanged."""
    flags = {"task_name": name} if name else {}
    return lambda source, folder: {**flags, "data_dir": source}


def first_examples(source: Path, folder: Path) -> dict[str, object]:
    """SST-2: the first 20,000 examples."""
    lines = (source / "train.tsv").read_text("utf-8").splitlines(True)
    (folder / "train.tsv").write_text("".join(lines[:20_001]), "utf-8")
    shutil.copy(source / "dev.tsv", folder)
    return {"task_name": "sst-2", "data_dir": folder}


def part_of_dev(source: Path, folder: Path) -> dict[str, object]:
    """QNLI, from its dev set alone: the last 1,000 examples to evaluate."""
    header, *lines = (source / "dev.tsv").read_text("utf-8").splitlines(True)
    for name, part in (("train", lines[:-1000]), ("dev", lines[-1000:])):
        (folder / f"{name}.tsv").write_text("".join([header, *part]), "utf-8")
    return {"task_name": "qnli", "data_dir": folder}


def without_dev(source: Path, folder: Path) -> dict[str, object]:
    """STS-B: a train set without the dev set's pairs."""

    def pair(line: str) -> list[str]:
        return line.split("\t")[7:9]

    train, dev = (
        (source / f"{name}.tsv").read_text("utf-8").splitlines(True)
        for name in ("train", "dev")
    )
    held_out = {tuple(pair(line)) for line in dev[1:]}
    kept = [line for line in train[1:] if tuple(pair(line)) not in held_out]
    (folder / "train.tsv").write_text("".join([train[0], *kept]), "utf-8")
    shutil.copy(source / "dev.tsv", folder)
    return {"task_name": "sts-b", "data_dir": folder}


def few_articles(source: Path, folder: Path) -> dict[str, object]:
    """SQuAD v1.1: 3 articles to train on, 1 to answer."""
    for name, number in (("train", 3), ("dev", 1)):
        content = json.loads((source / f"{name}-v1.1.json").read_text("utf-8"))
        content["data"] = content["data"][:number]
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return {
        "train_file": folder / "train.json",
        "predict_file": folder / "dev.json",
        "do_predict": True,
        "doc_stride": 64,
        "max_query_length": 32,
    }


TASKS = {
    "SST-2": Recipe(
        "run_classifier.py", "SST-2", "eval_accuracy", first_examples
    ),
    "MRPC": Recipe("run_classifier.py", "MRPC", "eval_accuracy", whole("mrpc")),
    "CoLA": Recipe("run_classifier.py", "CoLA", "matthews", whole("cola")),
    "RTE": Recipe("run_classifier.py", "RTE", "eval_accuracy", whole("rte")),
    "STS-B": Recipe("run_classifier.py", "STS-B", "pearson", without_dev),
    "QNLI": Recipe("run_classifier.py", "QNLI", "eval_accuracy", part_of_dev),
    "SQuAD": Recipe("run_squad.py", "squad", "f1", few_articles, scale=0.01),
    "CoNLL": Recipe("run_ner.py", "conll2003", "f1", whole(None)),
}


def run_row(
    task: Recipe,
    flags: dict[str, object],
    checkpoint: Path | None,
    folder: Path,
) -> float:
    """Fine-tunes once, or reads an earlier command's result.

    Args:
        task: Recipe.
        flags: of the script, for all rows of the task.
        checkpoint: weights to start from; None for random ones.
        folder: of this run.

    Returns:
        the task's figure, between 0 and 1.
    """
    results = folder / "eval_results.txt"
    if not results.exists():
        runs.run(
            task.script,
            folder.with_suffix(".log"),
            flags
            | {
                "init_checkpoint": checkpoint,
                "output_dir": folder,
                "do_train": True,
                "do_eval": None if task.script == "run_squad.py" else True,
                "num_train_epochs": 3,
                "save_checkpoints_steps": 1_000_000,
                "keep_checkpoint_max": 1,
            },
        )
        # The weights are no longer needed.
        for path in folder.glob("model.ckpt-*"):
            if _WEIGHTS.fullmatch(path.name):
                path.unlink()
    return task.scale * runs.read_results(results)[task.figure]


def create_flags(
    options: argparse.Namespace,
    names: Iterable[str],
    bert_config_file: Path,
    max_seq_length: int,
    learning_rate: float,
) -> dict[str, dict[str, object]]:
    """Creates the files of the tasks whose folder exists.

    Args:
        options: `data_dir` has a folder for each task, `output_dir` gets one
            for each; `model_dir` has the vocabulary; and `mixed_precision`.
        names: of TASKS.
        bert_config_file: of the model.
        max_seq_length: of its inputs.
        learning_rate: learning rate of fine-tuning.

    Returns:
        {name: flags of its script}.

    Raises:
        SystemExit: a folder would be written over its own files.
    """
    common = {
        "vocab_file": options.model_dir / "vocab.txt",
        "bert_config_file": bert_config_file,
        "max_seq_length": max_seq_length,
        "train_batch_size": 32,
        "learning_rate": learning_rate,
        "mixed_precision": options.mixed_precision,
    }
    found = {}
    for name in names:
        source = options.data_dir / TASKS[name].folder
        folder = options.output_dir / "data" / name
        if source.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            if folder.samefile(source):
                sys.exit(
                    f"error: {folder} is where the recipe writes its own part "
                    "of the data; give another --output_dir"
                )
            found[name] = common | TASKS[name].prepare(source, folder)
    return found
