"""Draws the curves of training runs as an image.

    python -m tools.plot_runs --runs=output/one,output/two --png=curves.png

Reads the history.jsonl that every training run writes to its --output_dir.
"""

import collections
import dataclasses
import functools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from files import requirements
from files.atomic import atomic_open
from files.flags import flag
from files.paths import Kind, named_folders
from training.callbacks import history
from training.command_line import cli

# {value of --axis: key of the value in a line of history.jsonl}.
AXES = {"steps": "step", "examples": "examples", "hours": "hours"}
# Maximum number of points of a training curve. If there are more, successive
# points are averaged, because no screen can show all of them.
MAX_POINTS = 400
_RATE = "learning_rate"
_LOOKS: dict[str, dict[str, Any]] = {
    "train": {"linewidth": 0.9, "alpha": 0.55},
    "eval": {"linewidth": 1.6, "alpha": 1.0, "marker": "."},
}

Point = tuple[float, float]


class Run(NamedTuple):
    """A run's name, and the lines of its history.jsonl.

    `is_repeated` is True if the run is one of several runs with the same flags.
    """

    name: str
    lines: list[dict[str, Any]]
    is_repeated: bool = False


class Series(NamedTuple):
    """A curve: the index of its run, "train" or "eval", and its points."""

    run: int
    kind: str
    points: list[Point]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Flags of the tool: the runs to draw, and the image to write."""

    runs: str = flag(
        ...,
        "Folders of the runs to draw, comma-separated. NAME=FOLDER sets the "
        "name of a run in the image.",
        kind=Kind.RUNS,
    )
    axis: str = flag("steps", "Quantity on the x axis.", choices=list(AXES))
    metrics: Sequence[str] | None = flag(
        None,
        "Metrics to draw, comma-separated. The default is all losses, the "
        "metrics of the evaluations and the learning rate.",
    )
    consecutive: bool = flag(
        False,
        "Draw each run after the end of the previous run. Set this if the runs "
        "are successive phases of one training.",
    )
    title: str | None = flag(None, "Heading of the image.")
    png: str | None = flag(
        None,
        "PNG image to write. Needs matplotlib (requirements/plot.txt).",
        kind=Kind.OUTPUT_FILE,
    )
    svg: str | None = flag(
        None,
        "SVG image to write. Needs matplotlib (requirements/plot.txt).",
        kind=Kind.OUTPUT_FILE,
    )


def main(config: Config) -> None:
    """Draws the curves of the runs, and writes them as images."""
    if config.png is None and config.svg is None:
        raise ValueError("nothing to do: set --png or --svg")
    runs = read_runs(named_folders(config.runs))
    if config.consecutive:
        runs = join_ends(runs)
    panels = create_panels(runs, config.axis, config.metrics)
    if not panels:
        raise ValueError(
            "--runs: the runs have recorded no values to plot for "
            f"--axis={config.axis} yet; train longer, or evaluate"
        )
    names = [run.name for run in runs]
    figure = draw(names, panels, config.axis, config.title)
    for kind, path in (("png", config.png), ("svg", config.svg)):
        if path is not None:
            with atomic_open(path) as file:
                figure.savefig(file, format=kind, dpi=130)
            logging.info("Wrote %s", path)


def read_runs(folders: Iterable[tuple[str, str]]) -> list[Run]:
    """Reads the history.jsonl of each run.

    Args:
        folders: (name, folder) of each run. If the name is "", the folder's
            name is the run's name. If a folder contains several runs (run_1,
            run_2, ...), the function reads all of them.

    Raises:
        ValueError: two runs have the same name, or a line is malformed.
        OSError: a folder contains no history.
    """
    runs = []
    for name, path in folders:
        folder = Path(path)
        name = name or folder.resolve().name
        if (folder / history.FILE).is_file():
            runs.append(Run(name, history.read(folder / history.FILE)))
            continue
        found = sorted(
            (int(number), file)
            for file in folder.glob(f"run_*/{history.FILE}")
            if (number := file.parent.name.removeprefix("run_")).isdecimal()
        )
        if not found:
            raise FileNotFoundError(
                f"--runs: {folder} has no {history.FILE}; use the --output_dir "
                "of a run that trained"
            )
        for _, file in found:
            lines, is_repeated = history.read(file), len(found) > 1
            runs.append(Run(f"{name}/{file.parent.name}", lines, is_repeated))
    for name, count in collections.Counter(run.name for run in runs).items():
        if count > 1:
            raise ValueError(
                f"--runs: two runs are called {name}; rename one, as in "
                "NAME=FOLDER"
            )
    return runs


def join_ends(runs: Sequence[Run]) -> list[Run]:
    """Shifts the curves, so that each run begins where the previous run ended.

    Adds the steps, examples and hours at the end of the previous run to the
    values of each run.

    Raises:
        ValueError: several runs repeat one training with different seeds, so
            they are not successive phases.
    """
    joined, ends = [], dict.fromkeys(AXES.values(), 0)
    for run in runs:
        if run.is_repeated:
            raise ValueError(
                "--consecutive joins the phases of one training, and "
                f"{run.name} is one of several runs of the same training; "
                "list the folder of one run for each phase"
            )
        lines = [dict(line) for line in run.lines]
        for key, end in ends.items():
            placed = [line for line in lines if line[key] is not None]
            for line in placed:
                line[key] += end
            ends[key] = max((line[key] for line in placed), default=end)
        joined.append(Run(run.name, lines))
    return joined


def create_panels(
    runs: Sequence[Run], axis: str, metrics: Sequence[str] | None = None
) -> dict[str, list[Series]]:
    """Returns the curves of each metric, {metric: curves}.

    Omits metrics without a curve. `axis` is a key of AXES. If `metrics` is
    None, returns the losses, the metrics of the evaluations and the learning
    rate.

    Raises:
        ValueError: `metrics` is empty, or contains a metric that no run
            recorded.
    """
    known, evaluated = (
        dict.fromkeys(
            name
            for run in runs
            for line in run.lines
            if line["kind"] in kinds
            for name in line["metrics"]
        )
        for kinds in (("train", "eval"), ("eval",))
    )
    if metrics is None:
        names = [*(name for name in known if "loss" in name), *evaluated]
        # Sort the metrics: first "loss", then other losses, then all others.
        names.sort(key=lambda name: ("loss" not in name, name != "loss"))
        metrics = [*names, _RATE]
    if not metrics:
        raise ValueError(
            f"--metrics= names no metric; use some of {', '.join(known)}, or "
            "remove the flag to draw the default metrics"
        )
    panels = {}
    for metric in metrics:
        if metric not in known and metric != _RATE:
            raise ValueError(
                f"--metrics: no run has {metric}; use some of "
                f"{', '.join(known)}"
            )
        panels[metric] = [
            Series(index, kind, points)
            for index, run in enumerate(runs)
            for kind in ("train", "eval")
            if (points := _points(run, kind, metric, axis))
        ]
    return {metric: series for metric, series in panels.items() if series}


def _points(run: Run, kind: str, metric: str, axis: str) -> list[Point]:
    """Returns the points of a run's curve, without values that are not finite.

    `kind` is "train" or "eval", and `axis` is a key of AXES. A training curve
    is averaged to at most MAX_POINTS points.
    """
    kinds: Sequence[str] = (kind,)
    if metric == _RATE:
        # Draw the learning rate as one curve from all kinds of lines, because
        # any line of the history may contain it.
        kinds = history.KINDS if kind == "train" else ()
    found = {}
    for line in run.lines:
        value = line["metrics"].get(metric, line.get(metric))
        place = line[AXES[axis]]
        if line["kind"] in kinds and value is not None and place is not None:
            found[line["step"]] = (float(place), float(value))
    points = [found[step] for step in sorted(found)]
    if kind == "eval":
        return points
    size = max(-(-len(points) // MAX_POINTS), 1)
    groups = (points[i : i + size] for i in range(0, len(points), size))
    return [tuple(np.mean(group, axis=0).tolist()) for group in groups]


def draw(
    names: Sequence[str],
    panels: dict[str, list[Series]],
    axis: str,
    title: str | None = None,
) -> Any:
    """Draws a matplotlib Figure with a panel for each metric.

    `names` are the names of the runs. `panels` is the result of
    `create_panels`. `axis` is the label of the x axes.

    Raises:
        ValueError: matplotlib is not installed.
    """
    try:
        from matplotlib import color_sequences, figure, rcsetup
    except ImportError as error:
        raise ValueError(
            "--png and --svg need matplotlib: "
            f"{requirements.install('requirements/plot.txt')}"
        ) from error
    # Color-blind people can distinguish these colors. If there are more runs
    # than colors, the colors are repeated with dashed lines.
    colors = rcsetup.cycler(color=color_sequences["petroff10"])
    looks = [*(rcsetup.cycler(linestyle=("-", "--", ":", "-.")) * colors)]
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    drawn = figure.Figure(
        figsize=(5.2 * columns, 3.2 * rows + 0.5), layout="constrained"
    )
    grid = [*drawn.subplots(rows, columns, squeeze=False).flat]
    for (metric, series), axes in zip(panels.items(), grid, strict=False):
        axes.set_title(_plain(metric), fontsize=10)
        axes.set_xlabel(axis, fontsize=9)
        axes.grid(alpha=0.3)
        for line in series:
            look = looks[line.run % len(looks)] | _LOOKS[line.kind]
            if len(line.points) == 1:
                look |= {"marker": "."}
            axes.plot(*zip(*line.points, strict=True), **look)
    for axes in grid[len(panels) :]:
        axes.remove()
    shown = [looks[index % len(looks)] for index in range(len(names))]
    shown += [{"color": "black"} | look for look in _LOOKS.values()]
    drawn.legend(
        [grid[0].plot([], [], **look)[0] for look in shown],
        [*map(_plain, names), "training", "evaluation"],
        loc="outside upper center",
        ncols=2 * columns,
        fontsize=9,
        title=None if title is None else _plain(title),
    )
    return drawn


def _plain(text: str) -> str:
    """Escapes `$`, which would begin a formula in matplotlib."""
    return text.replace("$", r"\$")


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
