"""Formats the scores of runs as a table, for tools/results_table.py."""

import collections
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from model_folders.scores import (
    DEV_RESULTS,
    EXPORT_RESULTS,
    parse_scores,
)
from options.path_flags import parse_named_folders

_SEED = re.compile(r"seed_\d+")


def read_scores(runs: str) -> dict[str, list[dict[str, float]]]:
    """Returns {label of a row: results of each of its runs, {name: value}}.

    Raises:
        OSError: a folder in `runs`, the value of --runs, contains no results.
    """
    folders = parse_named_folders(runs)
    runs_by_label = collections.defaultdict(list)
    for name, folder in folders:
        files = sorted(Path(folder).rglob(DEV_RESULTS))
        if not files:
            raise FileNotFoundError(f"{folder} contains no {DEV_RESULTS}")
        start = name or (folder if len(folders) > 1 else "")
        for file in files:
            parts = Path(start, file.parent.relative_to(folder)).parts
            common = [part for part in parts if not _SEED.fullmatch(part)]
            label = str(Path(*common)) if common else folder
            export_file = file.with_name(EXPORT_RESULTS)
            results = _read_results(file) | _read_results(export_file)
            runs_by_label[label].append(results)
    return runs_by_label


def _read_results(file: Path) -> dict[str, float]:
    """Returns {name: value} of the lines of a file, {} if it is missing."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    parts = (line.rpartition(" = ") for line in lines)
    return {name: float(value) for name, _, value in parts}


def format_table(
    rows: Mapping[str, Sequence[Mapping[str, float]]],
    metrics: Sequence[str] | None = None,
) -> str:
    """Formats rows as a Markdown table.

    Args:
        rows: {label of a row: results of each of its runs, {name: value}}.
        metrics: names of the results to show. None shows all results except
            losses, steps and the results for each label.
    """
    if metrics is None:
        names = dict.fromkeys(
            name for runs in rows.values() for name in runs[0]
        )
        overall = parse_scores(dict.fromkeys(names, 0.0)).overall
        hidden = re.compile("global_step|.*loss.*")
        metrics = [name for name in overall if not hidden.fullmatch(name)]
    table = [["run", "seeds", *metrics]]
    for label, runs in rows.items():
        table.append([label, str(len(runs))])
        for name in metrics:
            values = [run[name] for run in runs if name in run]
            # The mean of only some of the seeds would be misleading.
            is_complete = len(values) == len(runs)
            table[-1].append(format_values(values) if is_complete else "")
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        f"| {' | '.join(map(str.ljust, row, widths))} |\n" for row in table
    ]
    lines.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|\n")
    return "".join(lines)


def format_values(values: Sequence[float]) -> str:
    """Formats mean and standard deviation, such as "0.843 ± 0.005"."""
    mean = np.mean(values)
    digits = 1 if abs(mean) >= 10 else 3
    text = f"{mean:.{digits}f}"
    if len(values) > 1:
        text += f" ± {np.std(values, ddof=1):.{digits}f}"
    return text
