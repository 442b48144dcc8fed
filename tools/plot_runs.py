"""Draws the curves of training runs as an image.

    python -m tools.plot_runs --runs=output/one,output/two --output=curves.png

Reads the history.jsonl that every training run writes to its --output_dir. The
image shows the losses, the metrics of the evaluations and the learning rate.
"""

import collections
import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from files import requirements
from files.atomic import atomic_open
from files.flags import flag
from files.paths import Kind, named_folders
from training.callbacks import history
from training.command_line import cli
from training.results import split_by_label

# {value of --axis: key of the value in a line of history.jsonl}.
AXES = {"steps": "step", "examples": "examples", "hours": "hours"}
_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "training": {"linewidth": 0.9, "alpha": 0.55},
    "evaluation": {"linewidth": 1.6, "marker": "."},
}

# {(metric, key of _LOOKS): [(place on the x axis, value)]}.
Curves = Mapping[tuple[str, str], Sequence[tuple[float, float]]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Flags of the tool: the runs to draw, and the image to write."""

    runs: str = flag(
        ...,
        "Folders of the runs to draw, comma-separated. NAME=FOLDER sets the "
        "name of a run in the image.",
        kind=Kind.RUNS,
    )
    output: str = flag(
        ...,
        "Image to write, FILE.png or FILE.svg. Needs matplotlib "
        "(requirements/plot.txt).",
        kind=Kind.OUTPUT_FILE,
    )
    axis: str = flag("steps", "Quantity on the x axis.", choices=list(AXES))
    consecutive: bool = flag(
        False,
        "Draw each run after the end of the previous run. Set this if the runs "
        "are successive phases of one training.",
    )


def create_curves(
    lines: Sequence[Mapping[str, Any]], places: Sequence[float]
) -> Curves:
    """Returns the curves of a run, without values that are not finite.

    `lines` are the lines of history.jsonl, and `places` their places on the x
    axis.
    """
    curves = collections.defaultdict(list)
    for line, place in zip(lines, places, strict=True):
        kind = "evaluation" if line["kind"] == "eval" else "training"
        for metric, value in line["metrics"].items():
            if value is not None and (kind == "evaluation" or "loss" in metric):
                curves[metric, kind].append((place, value))
        if (rate := line["learning_rate"]) is not None:
            curves["learning_rate", "training"].append((place, rate))
    return curves


def choose_metrics(names: Collection[str]) -> list[str]:
    """Returns the metrics to draw: losses, other metrics, the learning rate.

    Omits the scores of single labels, and Google's eval_accuracy and eval_loss
    beside accuracy and loss.
    """
    overall, _ = split_by_label(dict.fromkeys(names, 0.0))
    chosen = {
        name
        for name in overall
        if not name.startswith("eval_") or name[len("eval_") :] not in names
    }
    return sorted(
        chosen,
        key=lambda name: (name == "learning_rate", "loss" not in name, name),
    )


def draw(runs: Sequence[tuple[str, Curves]], axis: str) -> Any:
    """Draws a matplotlib Figure with a panel for each metric.

    `runs` are the name and the curves of each run. `axis` is the label of the
    x axes.

    Raises:
        ValueError: matplotlib is not installed.
    """
    try:
        from matplotlib import color_sequences, figure, lines
    except ImportError as error:
        command = requirements.install("requirements/plot.txt")
        raise ValueError(f"matplotlib is missing: {command}") from error
    metrics = choose_metrics(
        {metric for _, curves in runs for metric, _ in curves}
    )
    rows, columns = -(-len(metrics) // 2), min(len(metrics), 2)
    drawn = figure.Figure(
        figsize=(5.2 * columns, 3.2 * rows + 0.5), layout="constrained"
    )
    panels = {}
    for number, metric in enumerate(metrics, start=1):
        panels[metric] = axes = drawn.add_subplot(rows, columns, number)
        axes.set_title(metric, fontsize=10)
        axes.set_xlabel(axis, fontsize=9)
        axes.grid(alpha=0.3)
    legend = []
    # Color-blind people can distinguish these colors.
    colors = color_sequences["petroff10"]
    for index, (name, curves) in enumerate(runs):
        color = colors[index % len(colors)]
        legend.append(lines.Line2D([], [], color=color, label=name))
        for (metric, kind), points in curves.items():
            if metric in panels:
                x, y = zip(*sorted(points), strict=True)
                panels[metric].plot(x, y, color=color, **_LOOKS[kind])
    for kind, look in _LOOKS.items():
        legend.append(lines.Line2D([], [], color="black", label=kind, **look))
    drawn.legend(
        handles=legend, loc="outside upper center", ncols=4, fontsize=9
    )
    return drawn


def main(config: Config) -> None:
    """Draws the curves of the runs, and writes the image."""
    runs, start = [], 0.0
    for name, folder in named_folders(config.runs):
        lines = history.read(Path(folder) / history.FILE)
        places = [start + line[AXES[config.axis]] for line in lines]
        runs.append((name or folder, create_curves(lines, places)))
        if config.consecutive:
            start = max(places, default=start)
    drawn = draw(runs, config.axis)
    with atomic_open(config.output) as file:
        drawn.savefig(file, format=Path(config.output).suffix[1:], dpi=130)


command = functools.partial(cli.run, main, Config)

if __name__ == "__main__":
    command()
