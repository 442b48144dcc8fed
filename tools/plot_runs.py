"""Draws the curves of training runs as an image.

    python -m tools.plot_runs --runs=output/one,output/two --output=curves.png

Reads the history.jsonl that every training run writes to its --output_dir. The
image shows the losses of the training and the learning rate as light lines, and
the evaluations as dark lines with dots.
"""

import collections
import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from command_line import cli, flags
from command_line.flags import flag
from command_line.path_flags import PathKind, parse_named_folders
from files.atomic import atomic_open
from model_folders.scores import split_by_label
from training.run_files import history_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# {value of --axis: key of the value in a line of history.jsonl}.
KEY_OF_AXIS: Mapping[str, Literal["step", "examples", "hours"]] = {
    "steps": "step",
    "examples": "examples",
    "hours": "hours",
}

# A curve of fewer points also gets a dot for each point.
_FEW_POINTS = 10

# {(metric, whether it is of evaluations): [(value on the x axis, value)]}.
Curves: TypeAlias = Mapping[tuple[str, bool], Sequence[tuple[float, float]]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config(flags.Config):
    """Flags of the tool: the runs to draw, and the image to write."""

    runs: str = flag(
        ...,
        "Folders of the runs to draw, comma-separated. NAME=FOLDER sets the "
        "name of a run in the image.",
        kind=PathKind.RUNS,
    )
    output: str = flag(
        ...,
        "Image to write, FILE.png or FILE.svg. Needs matplotlib.",
        kind=PathKind.OUTPUT_FILE,
    )
    axis: str = flag(
        "steps", "Quantity on the x axis.", choices=list(KEY_OF_AXIS)
    )
    consecutive: bool = flag(
        False,
        "Draw each run after the end of the previous run. Set this if the runs "
        "are successive phases of one training.",
    )


def read_runs(config: Config) -> list[tuple[str, Curves]]:
    """Returns (name, curves) of each run in --runs.

    Raises:
        OSError: a folder contains no history.jsonl.
        ValueError: a history is malformed.
    """
    runs = []
    start = 0.0
    for name, folder in parse_named_folders(config.runs):
        lines = history_lines.read_history(
            Path(folder) / history_lines.HISTORY_FILE
        )
        x_values = [start + line[KEY_OF_AXIS[config.axis]] for line in lines]
        runs.append((name or folder, create_curves(lines, x_values)))
        if config.consecutive:
            start = max(x_values, default=start)
    return runs


def create_curves(
    lines: Sequence[history_lines.HistoryLine], x_values: Sequence[float]
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
        overall, _ = split_by_label(line["metrics"])
        for metric, value in overall.items():
            is_shown = is_eval or "loss" in metric
            name = "loss" if metric == "eval_loss" else metric
            if is_shown and value is not None:
                curves[name, is_eval].append((x_value, value))
        if (rate := line["learning_rate"]) is not None:
            curves["learning_rate", False].append((x_value, rate))
    return curves


def create_figure(runs: Sequence[tuple[str, Curves]], axis: str) -> "Figure":
    """Draws a matplotlib Figure with a panel for each metric.

    Args:
        runs: (name, curves) of each run.
        axis: label of the x axes.
    """
    # Import late, because only this function needs matplotlib.
    import matplotlib as mpl
    from matplotlib import figure, lines

    # Pairs of a light and a dark tone.
    colors = mpl.color_sequences["Paired"]
    metrics = sorted({metric for _, curves in runs for metric, _ in curves})
    num_rows = -(-len(metrics) // 2)
    drawn = figure.Figure(
        figsize=(10, 3 * num_rows + 0.5), layout="constrained"
    )
    panels = {}
    for panel_number, metric in enumerate(metrics, start=1):
        panels[metric] = drawn.add_subplot(num_rows, 2, panel_number)
        panels[metric].set(title=metric, xlabel=axis)
    entries = []
    for index, is_eval in itertools.product(range(len(runs)), (False, True)):
        name, curves = runs[index]
        label = f"{name}, {'dev set' if is_eval else 'training'}"
        color = colors[(2 * index + is_eval) % len(colors)]
        shown = [metric for metric in metrics if curves.get((metric, is_eval))]
        for metric in shown:
            points = curves[metric, is_eval]
            # Without dots, a line of one point would be invisible.
            has_dots = is_eval or len(points) < _FEW_POINTS
            panels[metric].plot(
                *zip(*points, strict=True),
                color=color,
                marker="." if has_dots else "",
                label=label,
            )
        if shown:
            marker = "." if is_eval else ""
            entries.append(
                lines.Line2D([], [], color=color, marker=marker, label=label)
            )
    drawn.legend(handles=entries, loc="outside upper center", ncols=2)
    return drawn


def main(parsed: flags.ParsedCommand[Config]) -> None:
    """Draws the curves of the runs, and writes the image."""
    config = parsed.config
    drawn = create_figure(read_runs(config), config.axis)
    with atomic_open(config.output) as file:
        drawn.savefig(file, format=Path(config.output).suffix[1:], dpi=130)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
