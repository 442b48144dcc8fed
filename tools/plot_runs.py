"""Draws the curves of training runs as an image.

    python -m tools.plot_runs --runs=output/one,output/two --png=curves.png

Reads the history.jsonl that every training run writes to its --output_dir.
"""

import collections
import dataclasses
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

# {value of --axis: entry in the lines of a history}.
AXES = {"steps": "step", "examples": "examples", "hours": "hours"}
# Maximum number of points of a training curve. Neighbors of a longer curve are
# averaged, because no screen can show all points.
MAX_POINTS = 400
_RATE = "learning_rate"
_LOOKS: dict[str, dict[str, Any]] = {
    "train": {"linewidth": 0.9, "alpha": 0.55},
    "eval": {"linewidth": 1.6, "alpha": 1.0, "marker": "."},
}
_STYLES = ("-", "--", ":", "-.")

Point = tuple[float, float]


class Run(NamedTuple):
    """A run's name and the lines of its history.

    `is_repeated` says whether the run is one of several with the same flags.
    """

    name: str
    lines: list[dict[str, Any]]
    is_repeated: bool = False


class Series(NamedTuple):
    """One curve: the run's index, "train" or "eval", and the points."""

    run: int
    kind: str
    points: list[Point]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """The runs to draw, and the form of the image."""

    runs: str = flag(
        ...,
        "Folders of runs, comma-separated. NAME=FOLDER names a run.",
        kind=Kind.RUNS,
    )
    axis: str = flag("steps", "The x axis.", choices=list(AXES))
    metrics: Sequence[str] | None = flag(
        None,
        "Metrics to draw. By default the losses, the evaluations' metrics and "
        "the learning rate.",
    )
    consecutive: bool = flag(
        False,
        "Draw each run from the step at which the previous run ended, as for "
        "the phases of one training.",
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
    """Reads the histories of the runs, and draws their curves."""
    if config.png is None and config.svg is None:
        raise ValueError("nothing to do: set --png or --svg")
    runs = read_runs(named_folders(config.runs))
    if config.consecutive:
        runs = join_ends(runs)
    panels = create_panels(runs, config.axis, config.metrics)
    if not panels:
        raise ValueError(
            f"--runs: the runs have no values over {config.axis} yet; train "
            "longer, or evaluate"
        )
    names = [run.name for run in runs]
    figure = draw(names, panels, config.axis, config.title)
    for kind, path in (("png", config.png), ("svg", config.svg)):
        if path is not None:
            with atomic_open(path) as file:
                figure.savefig(file, format=kind, dpi=130)
            logging.info("Wrote %s", path)


def read_runs(folders: Iterable[tuple[str, str]]) -> list[Run]:
    """Reads the histories of runs.

    Args:
        folders: (name, folder) of each run. If a name is "", the run gets the
            folder's name. If a folder contains several runs (run_1, run_2,
            ...), the function reads all of them.

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
    """Shifts runs so that each begins where the previous run ended.

    Raises:
        ValueError: some runs repeat one training instead of being its phases.
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
    """Returns {metric: curves}, without metrics that have no curve.

    `axis` is a key of AXES. By default the metrics are the losses, the
    evaluations' metrics and the learning rate.

    Raises:
        ValueError: `metrics` is empty, or no run has one of them.
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
        # Sort: the loss, other losses, then all other metrics.
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
    """Returns the points of a curve, without values that are not finite."""
    kinds: Sequence[str] = (kind,)
    if metric == _RATE:
        # Draw the rate once, as a training curve, from lines of any kind.
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
    """Returns a matplotlib Figure with a panel for each metric.

    `panels` is the result of `create_panels`.

    Raises:
        ValueError: matplotlib is not installed.
    """
    try:
        from matplotlib import color_sequences, figure
    except ImportError as error:
        raise ValueError(
            "--png and --svg need matplotlib: "
            f"{requirements.install('requirements/plot.txt')}"
        ) from error
    # Color-blind people can distinguish these colors. The next runs repeat the
    # colors with dashed lines.
    looks = [
        {"color": color, "linestyle": style}
        for style in _STYLES
        for color in color_sequences["petroff10"]
    ]
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
    """Escapes a text, so that matplotlib does not read `$` as a formula."""
    return text.replace("$", r"\$")


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, Config)


if __name__ == "__main__":
    command()
