"""The histories of runs as panels of series, to be drawn."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from training.outputs import history

AXES = {"steps": "step", "examples": "examples", "hours": "hours"}
# Maximum points of a training curve; more are averaged, since no screen shows
# them.
MAX_POINTS = 400
_RATE = "learning_rate"

Point = tuple[float, float]


class Curves(NamedTuple):
    """A run's name, the lines of its history and whether others repeat it."""

    name: str
    lines: list[dict[str, Any]]
    repeated: bool = False


class Series(NamedTuple):
    """One curve.

    Attributes:
        run: position of its run in the list of runs.
        kind: "train" or "eval".
        points: (axis, value) pairs, in the order of the steps.
    """

    run: int
    kind: str
    points: list[Point]


class Panel(NamedTuple):
    """The curves of one metric."""

    metric: str
    series: list[Series]


def read_runs(folders: Iterable[tuple[str, str]]) -> list[Curves]:
    """Reads the histories of runs.

    Args:
        folders: (name, folder) of each; the name defaults to the folder's. A
            folder of several runs (run_1, run_2 ...) stands for all of them.

    Raises:
        ValueError: two runs have the same name, or a line is malformed.
        OSError: a folder has no history.
    """
    runs = [
        run
        for name, folder in folders
        for run in _read_folder(name, Path(folder))
    ]
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"two of --runs are called {name}; give NAME=FOLDER"
            )
    return runs


def _read_folder(name: str, folder: Path) -> list[Curves]:
    """Reads the histories in a folder or its run_*."""
    name = name or folder.resolve().name
    if (folder / history.FILE).is_file():
        return [Curves(name, history.read(folder / history.FILE))]
    several = [
        path
        for path in folder.glob(f"run_*/{history.FILE}")
        if path.parent.name.removeprefix("run_").isdecimal()
    ]
    several.sort(key=lambda path: int(path.parent.name.removeprefix("run_")))
    if not several:
        raise FileNotFoundError(
            f"--runs: {folder} has no {history.FILE}; give the --output_dir "
            "of a training"
        )
    return [
        Curves(
            f"{name}/{path.parent.name}", history.read(path), len(several) > 1
        )
        for path in several
    ]


def join_ends(runs: Sequence[Curves]) -> list[Curves]:
    """Returns runs that each begin where the one before ended.

    So the phases of a training become one curve against any axis.

    Raises:
        ValueError: some are of one folder, and so not phases.
    """
    for run in runs:
        if run.repeated:
            raise ValueError(
                f"--consecutive: {run.name} is one of several runs of the same "
                "training, not a phase; give the folder of one run a phase"
            )
    joined, ends = [], dict.fromkeys(AXES.values(), 0)
    for run in runs:
        lines = [
            line
            | {
                key: line[key] + end
                for key, end in ends.items()
                if line[key] is not None
            }
            for line in run.lines
        ]
        joined.append(Curves(run.name, lines))
        for key in ends:
            ends[key] = max(
                (line[key] for line in lines if line[key] is not None),
                default=ends[key],
            )
    return joined


def create_panels(
    runs: Sequence[Curves], axis: str, metrics: Sequence[str] | None = None
) -> list[Panel]:
    """Returns a panel for each metric.

    Args:
        runs: the runs to compare.
        axis: a key of AXES.
        metrics: names, in order; None for the losses, the evaluations' metrics
            and the learning rate.

    Raises:
        ValueError: no run has one of the metrics, or none is named.
    """
    known = _metric_names(runs, kinds=("train", "eval"))
    if metrics is not None and not metrics:
        raise ValueError(
            f"--metrics= names none; the runs have {', '.join(known)}; leave "
            "the flag out to choose the usual ones"
        )
    if metrics is None:
        evaluated = _metric_names(runs, kinds=("eval",))
        trained = [name for name in known if "loss" in name]
        metrics = [*dict.fromkeys([*trained, *evaluated]), _RATE]
        metrics = sorted(metrics, key=_rank)
    panels = []
    for metric in metrics:
        if metric not in known and metric != _RATE:
            raise ValueError(
                f"--metrics: no run has {metric}; they have {', '.join(known)}"
            )
        series = [
            Series(index, kind, points)
            for index, run in enumerate(runs)
            for kind in ("train", "eval")
            if (points := _points(run, kind, metric, axis))
        ]
        if series:
            panels.append(Panel(metric, series))
    return panels


def _rank(name: str) -> int:
    """Returns the sort key of a metric: losses, other metrics, the rate."""
    if name == _RATE:
        return 3
    return 2 if "loss" not in name else int(name != "loss")


def _metric_names(runs: Sequence[Curves], kinds: Iterable[str]) -> list[str]:
    return list(
        dict.fromkeys(
            name
            for run in runs
            for line in run.lines
            if line["kind"] in kinds
            for name in line["metrics"]
        )
    )


def _points(run: Curves, kind: str, metric: str, axis: str) -> list[Point]:
    # The learning rate is drawn once, from the training lines.
    if metric == _RATE and kind == "eval":
        return []
    kinds = (kind,) if metric != _RATE else history.KINDS
    found = {}
    for line in run.lines:
        if line["kind"] in kinds:
            value = line["metrics"].get(metric, line.get(metric))
            place = line[AXES[axis]]
            if value is not None and place is not None:
                found[line["step"]] = (float(place), float(value))
    points = [found[step] for step in sorted(found)]
    return _thinned(points) if kind == "train" else points


def _thinned(points: list[Point]) -> list[Point]:
    """Returns at most MAX_POINTS points, each the mean of its neighbours."""
    size = -(-len(points) // MAX_POINTS)
    if size <= 1:
        return points
    groups = (points[i : i + size] for i in range(0, len(points), size))
    return [
        (
            sum(place for place, _ in group) / len(group),
            sum(value for _, value in group) / len(group),
        )
        for group in groups
    ]


def best(name: str, points: Sequence[Point]) -> Point:
    """Returns the best point of a metric: the lowest loss, else the highest."""
    choose = min if "loss" in name else max
    return choose(points, key=lambda point: point[1])
