"""All of GLUE: the tasks present, their scores and the average.

A task's score is the mean of its metrics, as on GLUE's site; the average is
over the tasks. The BERT paper leaves WNLI out of it, because every model then
did worse there than the most frequent label.
"""

import os
import statistics
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import logging

from data.classification import glue
from files.atomic import atomic_open

# Each task's folder and its metrics, those of GLUE's site.
TASKS = {
    "cola": ("CoLA", ("matthews",)),
    "sst-2": ("SST-2", ("accuracy",)),
    "mrpc": ("MRPC", ("f1", "accuracy")),
    "sts-b": ("STS-B", ("pearson", "spearman")),
    "qqp": ("QQP", ("f1", "accuracy")),
    "mnli": ("MNLI", ("accuracy", "accuracy_mm")),
    "qnli": ("QNLI", ("accuracy",)),
    "rte": ("RTE", ("accuracy",)),
    "wnli": ("WNLI", ("accuracy",)),
}
# Where GLUE's downloads keep the diagnostics, a test set for MultiNLI models.
_DIAGNOSTICS = ("AX", "diagnostic", "MNLI")

# {task: {seed: {metric: value}}}
Results = Mapping[str, Mapping[int, Mapping[str, float]]]


def find_tasks(
    glue_dir: str,
    names: Sequence[str] | None = None,
    sets: Sequence[str] = ("train", "dev"),
) -> dict[str, str]:
    """Returns {task: folder} of the tasks whose files are present.

    MultiNLI's mismatched sets may be missing.

    Args:
        glue_dir: holds a folder for each task, named as GLUE's downloads are.
        names: the tasks that must be there; None for any that can be trained.
            Folders without the first of the sets are left out, with a warning.
        sets: those whose files are needed, of "train", "dev" and "test".

    Raises:
        ValueError: a name is not one of TASKS, or there is none.
        OSError: one of a task's files, or all tasks, are missing.
    """
    if names is not None and not names:
        raise ValueError(
            f"--tasks= names no task; give some of {', '.join(TASKS)}, or "
            "leave the flag out to run all"
        )
    unknown = [name for name in names or () if name not in TASKS]
    if unknown:
        raise ValueError(
            f"--tasks={','.join(unknown)} is not known; give some of "
            f"{', '.join(TASKS)}"
        )
    found = {}
    for name, (folder, _) in TASKS.items():
        if names is not None and name not in names:
            continue
        path = os.path.join(glue_dir, folder)
        if names is None and not os.path.isdir(path):
            continue
        set_files = glue.PROCESSORS[name].set_files
        files = [os.path.join(path, set_files[one][1]) for one in sets]
        missing = [file for file in files if not os.path.isfile(file)]
        if not missing:
            found[name] = path
        elif names is None and missing[0] == files[0]:
            logging.warning("%s is not there; %s is left out", files[0], name)
        else:
            raise FileNotFoundError(
                f"{missing[0]} is not there; add it, or leave out {name} (its "
                "folder, or its name in --tasks)"
            )
    if not found:
        folders = ", ".join(folder for folder, _ in TASKS.values())
        raise FileNotFoundError(
            f"--glue_dir={glue_dir} has none of the tasks' folders ({folders}) "
            f"with its {sets[0]} set"
        )
    return found


def find_diagnostics(glue_dir: str) -> str | None:
    """Returns the folder of `diagnostic.tsv`, or None."""
    for folder in _DIAGNOSTICS:
        path = os.path.join(glue_dir, folder)
        if os.path.isfile(os.path.join(path, "diagnostic.tsv")):
            return path
    return None


def score(task: str, figures: Mapping[str, float]) -> float:
    """Returns the mean of a task's metrics, out of 100.

    A metric that was not computed, such as that of a missing mismatched set,
    is left out.
    """
    names = [name for name in TASKS[task][1] if name in figures]
    return 100 * statistics.fmean(figures[name] for name in names)


def best_seed(task: str, by_seed: Mapping[int, Mapping[str, float]]) -> int:
    """Returns the seed of the highest score; the first one in a tie."""
    return max(by_seed, key=lambda seed: score(task, by_seed[seed]))


def summarize(results: Results) -> dict[str, Any]:
    """Returns means and deviations over the seeds, for glue.json.

    All figures are out of 100. Deviations are of the sample; None for one seed.

    Args:
        results: {task: {seed: {metric: value}}}.
    """
    tasks = {}
    for task, by_seed in results.items():
        metrics = {
            name: _spread([100 * by_seed[seed][name] for seed in by_seed])
            for name in TASKS[task][1]
            if all(name in figures for figures in by_seed.values())
        }
        scores = [score(task, figures) for figures in by_seed.values()]
        tasks[task] = {
            "seeds": list(by_seed),
            "metrics": metrics,
            "score": _spread(scores),
            "best_seed": best_seed(task, by_seed),
        }
    summary: dict[str, Any] = {"tasks": tasks, "average": _average(results)}
    if "wnli" in results and len(results) > 1:
        summary["average_without_wnli"] = _average(
            {name: found for name, found in results.items() if name != "wnli"}
        )
    return summary


def _average(results: Results) -> dict[str, Any]:
    """Returns the average over the tasks, for each seed and over them."""
    seeds = list(next(iter(results.values())))
    return _spread(
        [
            statistics.fmean(
                score(task, by_seed[seed]) for task, by_seed in results.items()
            )
            for seed in seeds
        ]
    )


def _spread(values: Sequence[float]) -> dict[str, Any]:
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return {
        "mean": statistics.fmean(values),
        "deviation": deviation,
        "values": list(values),
    }


def table(summary: Mapping[str, Any], markdown: bool = False) -> str:
    """Returns a summary as a table, a line for each task and average.

    Args:
        summary: what `summarize` returned.
        markdown: return Markdown instead of aligned plain text.
    """
    rows = [["task", "metrics", "score", "best seed"]]
    for task, found in summary["tasks"].items():
        metrics = ", ".join(
            f"{name} {_shown(spread)}"
            for name, spread in found["metrics"].items()
        )
        rows.append(
            [
                TASKS[task][0],
                metrics,
                _shown(found["score"]),
                str(found["best_seed"]),
            ]
        )
    for name in ("average", "average_without_wnli"):
        if name in summary:
            words = name.replace("_", " ").replace("wnli", "WNLI")
            names = set(summary["tasks"])
            if name == "average_without_wnli":
                names.remove("wnli")
            number = f"{len(names)} task{'s' * (len(names) > 1)}"
            rows.append([words, number, _shown(summary[name]), ""])
    if markdown:
        rows.insert(1, ["---"] * len(rows[0]))
        return "".join(f"| {' | '.join(row)} |\n" for row in rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        + "\n"
        for row in rows
    )


def _shown(spread: Mapping[str, Any]) -> str:
    """Returns "84.3 ± 0.5", or "84.3" of one seed."""
    mean, deviation = spread["mean"], spread["deviation"]
    return f"{mean:.1f}" + ("" if deviation is None else f" ± {deviation:.1f}")


def write_zip(path: str | os.PathLike[str], files: Sequence[str]) -> list[str]:
    """Writes the submission for GLUE's site.

    Args:
        path: the zip file.
        files: the tasks' submission files.

    Returns:
        the names of files that the site expects and that are missing.

    Raises:
        OSError: a file cannot be read, or the zip file not be written.
    """
    with (
        atomic_open(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in files:
            # Without a time, so that the same files give the same zip.
            entry = zipfile.ZipInfo(os.path.basename(name))
            archive.writestr(
                entry, Path(name).read_bytes(), zipfile.ZIP_DEFLATED
            )
    wanted = [glue.submission_file(name) for name in [*TASKS, "mnli-mm", "ax"]]
    there = {os.path.basename(name) for name in files}
    return [name for name in wanted if name not in there]
