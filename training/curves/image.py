"""Curves as a PNG, by matplotlib."""

import io
from collections.abc import Sequence

from training.curves.page import COLOURS
from training.curves.series import Curves, Panel

_STYLES = ("-", "--", ":", "-.")


def create_png(
    runs: Sequence[Curves], panels: Sequence[Panel], axis: str
) -> bytes:
    """Returns the image.

    Args:
        runs: the runs.
        panels: what to draw, see series.create_panels.
        axis: name of their common axis.

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
        axes.set_title(panel.metric.replace("$", r"\$"), fontsize=10)
        axes.set_xlabel(axis, fontsize=9)
        axes.grid(alpha=0.3)
        for line in panel.series:
            is_eval = line.kind == "eval"
            axes.plot(
                *zip(*line.points, strict=True),
                _style(line.run),
                color=_colour(line.run),
                marker="." if is_eval or len(line.points) == 1 else None,
                linewidth=1.6 if is_eval else 0.9,
                alpha=1.0 if is_eval else 0.55,
            )
    for axes in grid[len(panels) :]:
        axes.remove()
    figure.legend(
        [
            Line2D([], [], color=_colour(index), linestyle=_style(index))
            for index in range(len(runs))
        ],
        [run.name.replace("$", r"\$") for run in runs],
        loc="outside upper center",
        ncols=min(len(runs), 4),
        fontsize=9,
    )
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=130)
    return written.getvalue()


def _colour(run: int) -> str:
    return COLOURS[run % len(COLOURS)]


def _style(run: int) -> str:
    return _STYLES[run // len(COLOURS) % len(_STYLES)]
