"""Draws the curves of training runs as an image.

    python -m tools.plot_runs --runs=output/one,output/two --output=curves.png

Reads the history.jsonl that every training run writes to its --output_dir. The
image shows the losses of the training and the learning rate as light lines, and
the evaluations as dark lines with dots.
"""

import collections
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from command_line import cli, flags
from command_line.flags import flag
from command_line.path_flags import PathKind, named_folders
from files.atomic import atomic_open
from model_folders.results import split_by_label
from training.run import history

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# {value of --axis: key of the value in a line of history.jsonl}.
AXES: Mapping[str, Literal["step", "examples", "hours"]] = {
    "steps": "step",
    "examples": "examples",
    "hours": "hours",
}

# A curve of fewer points also gets a dot for each point.
_FEW_POINTS = 10

# {(metric, whether it is of evaluations): [(place on the x axis, value)]}.
Curves = Mapping[tuple[str, bool], Sequence[tuple[float, float]]]


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
    axis: str = flag("steps", "Quantity on the x axis.", choices=list(AXES))
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
    for name, folder in named_folders(config.runs):
        lines = history.read_history(Path(folder) / history.FILE)
        places = [start + line[AXES[config.axis]] for line in lines]
        runs.append((name or folder, create_curves(lines, places)))
        if config.consecutive:
            start = max(places, default=start)
    return runs


def create_curves(
    lines: Sequence[history.HistoryLine], places: Sequence[float]
) -> Curves:
    """Returns the curves of a run, without values that are not finite.

    `eval_loss` becomes `loss`, to be drawn beside the loss of training. Skips
    the scores of single labels.

    Args:
        lines: the lines of history.jsonl.
        places: place of each line on the x axis.
    """
    curves = collections.defaultdict(list)
    for line, place in zip(lines, places, strict=True):
        is_eval = line["kind"] == "eval"
        overall, _ = split_by_label(line["metrics"])
        for metric, value in overall.items():
            is_shown = is_eval or "loss" in metric
            name = "loss" if metric == "eval_loss" else metric
            if is_shown and value is not None:
                curves[name, is_eval].append((place, value))
        if (rate := line["learning_rate"]) is not None:
            curves["learning_rate", False].append((place, rate))
    return curves


def draw_runs(runs: Sequence[tuple[str, Curves]], axis: str) -> "Figure":
    """Draws a matplotlib Figure with a panel for each metric.

    Args:
        runs: (name, curves) of each run.
        axis: label of the x axes.
    """
    # Only whoever draws needs matplotlib.
    import matplotlib as mpl
    from matplotlib import figure, lines

    # Pairs of a light and a dark tone.
    colors = mpl.color_sequences["Paired"]
    metrics = sorted({metric for _, curves in runs for metric, _ in curves})
    rows = -(-len(metrics) // 2)
    drawn = figure.Figure(figsize=(10, 3 * rows + 0.5), layout="constrained")
    handles = {}
    for number, metric in enumerate(metrics, start=1):
        axes = drawn.add_subplot(rows, 2, number)
        axes.set(title=metric, xlabel=axis)
        for index, (name, curves) in enumerate(runs):
            for is_eval in (False, True):
                if not (points := curves.get((metric, is_eval))):
                    continue
                label = f"{name}, {'dev set' if is_eval else 'training'}"
                color = colors[(2 * index + is_eval) % len(colors)]
                handles[index, is_eval] = lines.Line2D(
                    [],
                    [],
                    color=color,
                    marker="." if is_eval else "",
                    label=label,
                )
                # Without dots, a line of one point would be invisible.
                has_dots = is_eval or len(points) < _FEW_POINTS
                places, values = zip(*points, strict=True)
                axes.plot(
                    places,
                    values,
                    color=color,
                    marker="." if has_dots else "",
                    label=label,
                )
    drawn.legend(
        handles=[handles[place] for place in sorted(handles)],
        loc="outside upper center",
        ncols=2,
    )
    return drawn


def main(parsed: flags.Parsed[Config]) -> None:
    """Draws the curves of the runs, and writes the image."""
    config = parsed.config
    drawn = draw_runs(read_runs(config), config.axis)
    with atomic_open(config.output) as file:
        drawn.savefig(file, format=Path(config.output).suffix[1:], dpi=130)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
