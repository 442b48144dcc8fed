"""Curves as a PNG, by matplotlib."""

import io
from collections.abc import Sequence
from typing import Any

from training.curves.page import COLOURS
from training.curves.series import Curves, Panel

_STYLES = ("-", "--", ":", "-.")
_WIDTHS: dict[str, dict[str, Any]] = {
    "train": {"linewidth": 0.9, "alpha": 0.55},
    "eval": {"linewidth": 1.6, "alpha": 1.0},
}


def create_png(
    runs: Sequence[Curves],
    panels: Sequence[Panel],
    axis: str,
    title: str | None = None,
) -> bytes:
    """Returns the image.

    Args:
        runs: the runs.
        panels: what to draw, see series.create_panels.
        axis: name of their common axis.
        title: the heading, if any.

    Raises:
        ValueError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError as error:
        raise ValueError(
            "--png needs matplotlib: pip install -r requirements/plot.txt; "
            "--html does without"
        ) from error
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = Figure(
        figsize=(5.2 * columns, 3.2 * rows + 0.5), layout="constrained"
    )
    grid = [*figure.subplots(rows, columns, squeeze=False).flat]
    for panel, axes in zip(panels, grid, strict=False):
        axes.set_title(_plain(panel.metric), fontsize=10)
        axes.set_xlabel(axis, fontsize=9)
        axes.grid(alpha=0.3)
        for line in panel.series:
            is_eval = line.kind == "eval"
            axes.plot(
                *zip(*line.points, strict=True),
                _style(line.run),
                color=_colour(line.run),
                marker="." if is_eval or len(line.points) == 1 else None,
                **_WIDTHS[line.kind],
            )
    for axes in grid[len(panels) :]:
        axes.remove()
    figure.legend(
        [
            *(
                Line2D([], [], color=_colour(index), linestyle=_style(index))
                for index in range(len(runs))
            ),
            Line2D([], [], color="black", **_WIDTHS["train"]),
            Line2D([], [], color="black", marker=".", **_WIDTHS["eval"]),
        ],
        [*(_plain(run.name) for run in runs), "training", "evaluation"],
        loc="outside upper center",
        ncols=2 * columns,
        fontsize=9,
        title=None if title is None else _plain(title),
    )
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=130)
    return written.getvalue()


def _plain(text: str) -> str:
    """Returns a text in which matplotlib finds no formula."""
    return text.replace("$", r"\$")


def _colour(run: int) -> str:
    return COLOURS[run % len(COLOURS)]


def _style(run: int) -> str:
    return _STYLES[run // len(COLOURS) % len(_STYLES)]
