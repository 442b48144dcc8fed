"""Draws the curves of training runs, for tools/plot_runs.py."""

import collections
import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from options.path_flags import parse_named_folders
from tools.run_comparison.plot_runs_config import (
    KEY_OF_AXIS,
    PlotRunsConfig,
)
from training.run_files import history

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

# A curve of fewer points also gets a dot for each point.
_FEW_POINTS = 10

# {(metric, whether it is of evaluations): [(value on the x axis, value)]}.
Curves: TypeAlias = Mapping[tuple[str, bool], Sequence[tuple[float, float]]]


def read_runs(config: PlotRunsConfig) -> list[tuple[str, Curves]]:
    """Returns (name, curves) of each run in --runs.

    Raises:
        OSError: a folder contains no history.jsonl.
        ValueError: a history is malformed.
    """
    runs = []
    start = 0.0
    for name, folder in parse_named_folders(config.runs):
        lines = history.read_history(Path(folder) / history.HISTORY_FILE)
        x_values = [start + line[KEY_OF_AXIS[config.axis]] for line in lines]
        runs.append((name or folder, create_curves(lines, x_values)))
        if config.consecutive:
            start = max(x_values, default=start)
    return runs


def create_curves(
    lines: Sequence[history.HistoryLine], x_values: Sequence[float]
) -> Curves:
    """Returns the curves of a run, without values that are not finite.

    `eval_loss` becomes `loss`, to be drawn beside the loss of training. Skips
    the scores of single labels.

    Args:
        lines: the lines of history.jsonl.
        x_values: value of each line on the x axis.
    """
    curves = collections.defaultdict(list)
    for line, x_value in zip(lines, x_values, strict=True):
        is_eval = line["kind"] == "eval"
        for metric, value in history.scores_of_line(line).overall.items():
            is_shown = is_eval or "loss" in metric
            name = "loss" if metric == "eval_loss" else metric
            if is_shown and not math.isnan(value):
                curves[name, is_eval].append((x_value, value))
        if (rate := line["learning_rate"]) is not None:
            curves["learning_rate", False].append((x_value, rate))
    return curves


@dataclasses.dataclass(frozen=True)
class _CurveGroup:
    """The curves of a run's training, or of its evaluations, in all panels.

    Attributes:
        label: what the legend shows.
        color: the color of the curves.
        is_eval: whether these are curves of evaluations.
        points: {metric: [(value on the x axis, value)]}, none of them empty.
    """

    label: str
    color: "ColorType"
    is_eval: bool
    points: Mapping[str, Sequence[tuple[float, float]]]


def create_figure(runs: Sequence[tuple[str, Curves]], axis: str) -> "Figure":
    """Draws a matplotlib Figure with a panel for each metric.

    Args:
        runs: (name, curves) of each run.
        axis: label of the x axes.
    """
    # Import late, because only the functions that draw need matplotlib.
    from matplotlib.figure import Figure

    metrics = sorted({metric for _, curves in runs for metric, _ in curves})
    groups = _group_curves(runs)
    num_rows = math.ceil(len(metrics) / 2)
    figure = Figure(figsize=(10, 3 * num_rows + 0.5), layout="constrained")
    for panel_number, metric in enumerate(metrics, start=1):
        panel = figure.add_subplot(num_rows, 2, panel_number)
        panel.set(title=metric, xlabel=axis)
        for group in groups:
            if metric in group.points:
                _draw_curve(panel, group, metric)
    _add_legend(figure, groups)
    return figure


def _group_curves(runs: Sequence[tuple[str, Curves]]) -> list[_CurveGroup]:
    """Returns the curves of each run, in the order of the legend."""
    # Only the functions that draw need matplotlib.
    import matplotlib as mpl

    # Pairs of a light and a dark tone.
    colors = mpl.color_sequences["Paired"]
    groups = []
    for index, is_eval in itertools.product(range(len(runs)), (False, True)):
        name, curves = runs[index]
        points = {
            metric: curve
            for (metric, is_of_eval), curve in curves.items()
            if is_of_eval == is_eval and curve
        }
        if points:
            group = _CurveGroup(
                label=f"{name}, {'dev set' if is_eval else 'training'}",
                color=colors[(2 * index + is_eval) % len(colors)],
                is_eval=is_eval,
                points=points,
            )
            groups.append(group)
    return groups


def _draw_curve(panel: "Axes", group: _CurveGroup, metric: str) -> None:
    """Draws the curve of a metric into its panel."""
    points = group.points[metric]
    # Without dots, a line of one point would be invisible.
    has_dots = group.is_eval or len(points) < _FEW_POINTS
    panel.plot(
        *zip(*points, strict=True),
        color=group.color,
        marker="." if has_dots else "",
        label=group.label,
    )


def _add_legend(figure: "Figure", groups: Sequence[_CurveGroup]) -> None:
    """Adds an entry for each group, whatever the panels that show it."""
    # Only the functions that draw need matplotlib.
    from matplotlib.lines import Line2D

    entries = [
        Line2D(
            [],
            [],
            color=group.color,
            marker="." if group.is_eval else "",
            label=group.label,
        )
        for group in groups
    ]
    figure.legend(handles=entries, loc="outside upper center", ncols=2)
