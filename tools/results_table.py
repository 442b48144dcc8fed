"""Writes a table of runs, with the mean and standard deviation of each result.

    python -m tools.results_table --runs=output/glue --output=output/glue.md

Reads the summary.json of each run in the folders of --runs, at any depth. Runs
whose paths differ only in run_N or seed_N form one row, unless their flags
differ. If such runs were evaluated on different dev sets, the table contains
only the runs on the most frequent dev set or, in a tie, on the dev set that was
used last. Accuracies and similar metrics are percentages.
For tasks of GLUE the table also shows scores and averages, and --submission
packs the predictions for GLUE's site.
"""

import collections
import dataclasses
import functools
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from data.classification import glue
from files.atomic import write_text
from files.flags import flag
from files.paths import Kind, named_folders
from training import finished_runs
from training.command_line import cli
from training.finished_runs import Run
from training.results import split_by_label

# The tool writes this text into each of its files. It replaces a file only if
# the file contains the text, because other files belong to the user.
MARK = "Written by tools.results_table"
# Names of results that the table does not show by default.
_OTHER = re.compile(
    r"global_step|best_run|ensemble_size|(eval_)?loss\w*"
    r"|(saved_model|litert|onnx|openvino)_\w+"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Flags of the tool: the runs to read, and the files to write."""

    runs: str = flag(
        ...,
        "Folders that contain runs, comma-separated. NAME=FOLDER sets the name "
        "of a folder in the table.",
        kind=Kind.RUNS,
    )
    metrics: Sequence[str] | None = flag(
        None,
        "Names of the results to show, comma-separated. The default is GLUE's "
        "metrics for GLUE's tasks. For other tasks, it is all results except "
        "losses and the results for each label.",
    )
    output: str | None = flag(
        None,
        "Files to write the table to, comma-separated: .md, .json or .txt.",
        kind=Kind.OUTPUT_FILES,
    )
    submission: str | None = flag(
        None,
        "Zip file to write. It contains the predictions that "
        "run_classifier.py --glue_submission wrote to the folders of --runs.",
        kind=Kind.OUTPUT_FILE,
    )


class Row(NamedTuple):
    """A row of the table: runs that differ only in their seeds, or an average.

    `folders` are the folders of the runs, or [] for an average. The last
    field is {name of a result: list of its values, one for each run}.
    """

    label: str
    task: str
    folders: Sequence[str]
    figures: Mapping[str, Sequence[float]]


def make_rows(
    label: str, runs: Sequence[Run], metrics: Sequence[str] | None
) -> Iterator[Row]:
    """Yields a table row for each group of runs with the same flags.

    If all `runs` have the same flags, the row's label is `label`. Otherwise the
    rows' labels also contain the flags that differ.
    """
    groups: dict[str, list[Run]] = {}
    for run in runs:
        key = json.dumps(run.settings, sort_keys=True)
        groups.setdefault(key, []).append(run)
    first, *others = (group[0].settings for group in groups.values())
    differing = [
        name
        for name in first
        if any(other.get(name) != first[name] for other in others)
    ]
    if differing:
        logging.warning(
            "%s contains runs with different %s, which form separate rows",
            label,
            ", ".join(differing),
        )
    for group in groups.values():
        settings = group[0].settings
        task = (settings.get("task_name") or "").lower()
        shown = [f"{name}={settings.get(name)}" for name in differing]
        overall, _ = split_by_label(group[0].figures)
        names = metrics or glue.METRICS.get(task) or overall
        figures = {
            name: [run.figures[name] for run in group]
            for name in names
            if all(name in run.figures for run in group)
            and (metrics or not _OTHER.fullmatch(name))
        }
        if task in glue.METRICS and not metrics:
            figures["score"] = means(figures.values())
        yield Row(
            f"{label} ({', '.join(shown)})" if shown else label,
            task,
            [str(run.folder) for run in group],
            figures,
        )


def means(figures: Iterable[Sequence[float]]) -> list[float]:
    """Averages several results, each a list with one value per seed.

    If all lists are equally long, returns their mean for each seed. Otherwise
    returns a list of one number: the mean of the lists' means.
    """
    figures = [*figures]
    if len({*map(len, figures)}) > 1:
        figures = [[float(np.mean(values))] for values in figures]
    return np.mean(figures, axis=0).tolist()


def averages(rows: Sequence[Row]) -> Iterator[Row]:
    """Yields rows with GLUE's average and the BERT paper's average.

    Yields nothing if a row is not a GLUE task, or two rows are the same task.
    GLUE averages the scores of the tasks. The paper averages two metrics of
    MNLI and one metric of each other task except WNLI.
    """
    tasks = {row.task: row.figures for row in rows}
    if len(tasks) < len(rows) or not all(
        "score" in row.figures for row in rows
    ):
        return
    values = means(figures["score"] for figures in tasks.values())
    many = f"{len(tasks)} tasks" if len(tasks) > 1 else "1 task"
    yield Row(f"average of {many}", "", [], {"score": values})
    paper = [
        tasks[task][name]
        for task, names in glue.PAPER_METRICS.items()
        for name in names
        if name in tasks.get(task, {})
    ]
    if paper:
        label = f"the paper's average, {len(paper)} of 9 figures"
        yield Row(label, "", [], {"score": means(paper)})


def show(name: str, values: Sequence[float]) -> str:
    """Formats the values of a result, such as "84.3 ± 0.5".

    The numbers are the mean and the standard deviation. A single value is
    formatted without a deviation. Losses get three decimal places. `name` is
    the result's name.
    """
    digits = 3 if "loss" in name else 1
    text = f"{np.mean(values):.{digits}f}"
    if len(values) < 2:
        return text
    return f"{text} ± {np.std(values, ddof=1):.{digits}f}"


def format_table(rows: Sequence[Row], markdown: bool) -> str:
    """Formats the rows as a table in Markdown or in aligned plain text."""
    names = [*dict.fromkeys(name for row in rows for name in row.figures)]
    names.sort(key=lambda name: name == "score")
    lines = [["run", "seeds", *names]]
    for row in rows:
        figures = row.figures
        lines.append([row.label, str(len(row.folders) or "")])
        lines[-1] += [
            show(name, figures[name]) if name in figures else ""
            for name in names
        ]
    if markdown:
        lines.insert(1, ["---"] * len(lines[0]))
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(map(str.ljust, line, widths)).rstrip() + "\n"
        for line in lines
    )


def describe(row: Row) -> dict[str, Any]:
    """Converts a row to a dict for JSON.

    The dict contains the mean, the deviation and the values of each result.
    """
    figures = {
        name: {
            "mean": np.mean(values),
            "deviation": np.std(values, ddof=1) if len(values) > 1 else None,
            "values": values,
        }
        for name, values in row.figures.items()
    }
    return {"run": row.label, "folders": row.folders, "figures": figures}


def write_table(output: str, rows: Sequence[Row]) -> None:
    """Writes the table to a file. The ending of its name sets the format."""
    if output.endswith(".json"):
        contents = {"about": MARK, "rows": [describe(row) for row in rows]}
        # Replace NaN by null, because JSON cannot represent NaN.
        text = re.sub("NaN(?=,?\n)", "null", json.dumps(contents, indent=2))
        write_text(output, f"{text}\n")
    elif output.endswith(".md"):
        write_text(output, f"{format_table(rows, True)}\n<!-- {MARK} -->\n")
    else:
        write_text(output, f"{format_table(rows, False)}\n{MARK}\n")


def check_outputs(outputs: Sequence[str], submission: str | None) -> None:
    """Checks that the tool may write its output files.

    Args:
        outputs: paths of the files in --output.
        submission: value of --submission, None if it is not set.

    Raises:
        ValueError: the ending of a file's name is unknown.
        OSError: a file already exists, and this tool did not write it.
    """
    for output in outputs:
        if not output.endswith((".md", ".json", ".txt")):
            raise ValueError(
                f"--output={output} must end in .md, .json or .txt"
            )
    if submission and not submission.endswith(".zip"):
        raise ValueError(f"--submission={submission} must end in .zip")
    for path in filter(None, [*outputs, submission]):
        if os.path.exists(path) and (
            MARK.encode() not in Path(path).read_bytes()
        ):
            raise FileExistsError(
                f"{path} was not written by tools.results_table; move it "
                "away, or choose another path"
            )


def main(config: Config) -> None:
    """Reads the runs, prints the table and writes the files."""
    outputs = config.output.split(",") if config.output else []
    check_outputs(outputs, config.submission)
    folders = named_folders(config.runs)
    labels = collections.defaultdict(list)
    for name, folder in folders:
        for run in finished_runs.read_runs(Path(folder)):
            parts = [name or (folder if len(folders) > 1 else "")]
            parts += run.folder.relative_to(folder).parts
            kept = [
                part
                for part in parts
                if part and not finished_runs.SEED.fullmatch(part)
            ]
            labels["/".join(kept) or folder].append(run)
    found = [run for runs in labels.values() for run in runs]
    taken = finished_runs.of_one_dev_set(found)
    rows = [
        row
        for label, runs in labels.items()
        if (left := [run for run in runs if run in taken])
        for row in make_rows(label, left, config.metrics)
    ]
    for name in config.metrics or ():
        if not any(name in row.figures for row in rows):
            logging.warning("No run has the result %s", name)
    broken = [
        f"{folder} ({name})"
        for row in rows
        for name, values in row.figures.items()
        for folder, value in zip(row.folders, values, strict=True)
        if math.isnan(value)
    ]
    if broken:
        logging.warning(
            "Results that are not finite are shown as nan: %s",
            ", ".join(broken),
        )
    rows += averages(rows)
    for output in outputs:
        write_table(output, rows)
    if config.submission:
        glue.pack_submission(
            config.submission,
            [Path(folder) for _, folder in folders],
            MARK,
            lambda file: finished_runs.check_predictions(file, taken),
        )
    print(format_table(rows, markdown=False), end="")


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
