"""Curves as one self-contained HTML page: inline SVG, no script."""

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from training.curves import series
from training.curves.series import Curves, Panel, Series

_WIDTH, _HEIGHT = 480, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 18, 12, 34
# Distinguishable by people with colour blindness (Okabe and Ito 2008).
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#b8860b",
    "#56b4e9",
    "#7f7f7f",
)
# Dash patterns once the colours are used up.
DASHES = ("", "6 3", "2 2", "8 3 2 3")

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title><style>
:root {{ --text: #1b1b1b; --page: #ffffff; --line: #d8d8d8; --soft: #5f5f5f; }}
@media (prefers-color-scheme: dark) {{
:root {{ --text: #e8e8e8; --page: #16181c; --line: #3a3d44; --soft: #a8acb4; }}
.curve, circle {{ filter: brightness(1.4); }}
}}
body {{ font: 16px/1.5 sans-serif; margin: 1.5em auto; max-width: 72em;
padding: 0 1em; color: var(--text); background: var(--page); }}
h1 {{ font-size: 1.5em; }} h2 {{ font-size: 1em; margin: .5em 0 .2em; }}
.panels {{ display: grid; gap: 1.2em;
grid-template-columns: repeat(auto-fit, minmax(min(100%, 26em), 1fr)); }}
svg {{ width: 100%; height: auto; font: 12px sans-serif; }}
svg text {{ fill: var(--soft); }} .grid {{ stroke: var(--line); }}
.curve {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
.train {{ stroke-width: 1.2; opacity: .65; }}
.legend {{ list-style: none; padding: 0; display: flex; flex-wrap: wrap;
gap: .2em 1.4em; }}
.legend svg {{ width: 2em; height: .8em; margin-right: .4em; }}
.note {{ color: var(--soft); }}
.wide {{ overflow-x: auto; }} table {{ border-collapse: collapse; }}
th, td {{ padding: .25em .8em; border-bottom: 1px solid var(--line);
text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
label {{ margin: 0 1em 0 .2em; }}
.axis {{ display: none; }}
{shown} {{ display: block; }}
</style></head><body>
<h1>{title}</h1>
"""


def create_page(
    runs: Sequence[Curves],
    panels: Mapping[str, Sequence[Panel]],
    chosen: str,
    title: str = "Curves",
) -> str:
    """Returns the page.

    Args:
        runs: the runs.
        panels: {axis: its panels}, see series.create_panels.
        chosen: the axis shown first.
        title: its heading.
    """
    shown = ", ".join(f"#{axis}:checked ~ .{axis}" for axis in panels)
    parts = [_HEAD.format(title=html.escape(title), shown=shown), _legend(runs)]
    for axis in panels:
        checked = " checked" if axis == chosen else ""
        parts.append(
            f'<input type="radio" name="axis" id="{axis}"{checked}>'
            f'<label for="{axis}">{axis}</label>'
        )
    for axis, drawn in panels.items():
        figures = "".join(
            f"<figure style='margin:0'><h2>{html.escape(panel.metric)}</h2>"
            f"{_svg(panel, runs, axis)}</figure>\n"
            for panel in drawn
        )
        parts.append(
            f'<section class="axis {axis}"><div class="panels">\n{figures}'
            f"</div>\n{_table(runs, drawn, axis)}</section>\n"
        )
    parts.append("</body></html>\n")
    return "".join(parts)


def _style(run: int) -> str:
    """Returns the attributes of a run's curves."""
    dash = DASHES[run // len(COLOURS) % len(DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{COLOURS[run % len(COLOURS)]}"{dashes}'


def _legend(runs: Sequence[Curves]) -> str:
    entries = "".join(
        '<li><svg viewBox="0 0 40 10" aria-hidden="true">'
        f'<path class="curve" d="M0 5H40" {_style(index)}/></svg>'
        f"{html.escape(run.name)}</li>"
        for index, run in enumerate(runs)
    )
    return (
        f'<ul class="legend">{entries}</ul>\n<p class="note">Lines with dots: '
        "evaluations. Thin lines: training, neighbouring steps averaged where "
        "there are many.</p>\n"
    )


def _svg(panel: Panel, runs: Sequence[Curves], axis: str) -> str:
    """Returns one panel's drawing."""
    points = [point for line in panel.series for point in line.points]
    across = ticks(*_ends(place for place, _ in points))
    up = ticks(*_ends(value for _, value in points))

    def x(place: float) -> float:
        share = (place - across[0]) / (across[-1] - across[0])
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        share = (value - up[0]) / (up[-1] - up[0])
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{html.escape(panel.metric)} by {axis}">'
    ]
    for value in up:
        parts.append(
            f'<path class="grid" d="M{_LEFT} {y(value):.1f}'
            f'H{_WIDTH - _RIGHT}"/>'
            f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" '
            f'text-anchor="end">{value:.4g}</text>'
        )
    for place in across:
        parts.append(
            f'<text x="{x(place):.1f}" y="{_HEIGHT - _BOTTOM + 16}" '
            f'text-anchor="middle">{short(place)}</text>'
        )
    parts.append(
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 2}" text-anchor="end">'
        f"{axis}</text>"
    )
    for line in panel.series:
        path = "L".join(f"{x(p):.1f} {y(v):.1f}" for p, v in line.points)
        parts.append(
            f'<path class="curve {line.kind}" d="M{path}" {_style(line.run)}/>'
        )
        parts += _dots(line, runs[line.run].name, axis, x, y)
    return "".join([*parts, "</svg>"])


def _dots(
    line: Series,
    name: str,
    axis: str,
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> list[str]:
    """Returns the dots of evaluations, with their values as tooltips."""
    if line.kind == "train" and len(line.points) > 1:
        return []
    colour = COLOURS[line.run % len(COLOURS)]
    return [
        f'<circle cx="{x(place):.1f}" cy="{y(value):.1f}" r="2.6" '
        f'fill="{colour}"><title>{html.escape(name)}: {value:.5g} at '
        f"{place:.5g} {axis}</title></circle>"
        for place, value in line.points
    ]


def _table(runs: Sequence[Curves], panels: Sequence[Panel], axis: str) -> str:
    """Returns the best and last figures of the evaluations, by run."""
    evaluated = [
        (panel.metric, {line.run: line.points for line in panel.series})
        for panel in (
            Panel(p.metric, [line for line in p.series if line.kind == "eval"])
            for p in panels
        )
        if panel.series
    ]
    if not evaluated:
        return ""
    head = "".join(
        f"<th>{html.escape(name)}, best</th><th>at {axis}</th><th>last</th>"
        for name, _ in evaluated
    )
    rows = []
    for index, run in enumerate(runs):
        cells = []
        for name, by_run in evaluated:
            if points := by_run.get(index):
                place, value = series.best(name, points)
                cells += [f"{value:.4g}", short(place), f"{points[-1][1]:.4g}"]
            else:
                cells += ["", "", ""]
        rows.append(
            f"<tr><td>{html.escape(run.name)}</td>"
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>\n"
        )
    return (
        f'<h2>Evaluations</h2><div class="wide"><table><tr><th>run</th>{head}'
        f"</tr>\n{''.join(rows)}</table></div>\n"
    )


def _ends(values: Iterable[float]) -> tuple[float, float]:
    found = list(values)
    return min(found), max(found)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Returns round numbers from at most `low` to at least `high`.

    Args:
        low: the smallest value.
        high: the largest one.
        count: about how many numbers.
    """
    if high <= low:
        pad = abs(low) / 2 or 0.5
        low, high = low - pad, high + pad
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [index * step for index in range(first, last + 1)]


def short(value: float) -> str:
    """Returns a number as an axis shows it: 12k, 1.5M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}"
