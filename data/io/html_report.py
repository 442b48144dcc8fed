"""Building blocks of the reports: self-contained HTML files."""

import html
import os
from collections.abc import Iterable, Iterator, Sequence

from absl import logging

from files.atomic import atomic_open

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; --line: #ccc; --right: #b7e4b0;
  --wrong: #f5b7b1; --accent: #1f5fbf; --edge: #2e7d32; }}
@media (prefers-color-scheme: dark) {{ :root {{ --line: #444;
  --right: #23522a; --wrong: #6e2b26; --accent: #7fb0ff; --edge: #81c784; }} }}
body {{ font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto;
  padding: 0 1em; }}
details {{ border-bottom: 1px solid var(--line); padding: .5em 0; }}
summary {{ cursor: pointer; }}
details p, summary {{ overflow-wrap: anywhere; }}
.right {{ background: var(--right); }}
.wrong, .predicted {{ background: var(--wrong); }}
.both {{ background: var(--right); outline: 2px solid var(--edge); }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid var(--line); padding: .2em .6em;
  text-align: right; }}
th {{ font-weight: 600; }}
td.shade {{ background: color-mix(in srgb, var(--accent) var(--share),
  transparent); }}
svg {{ max-width: 30em; width: 100%; height: auto; font-size: 12px; }}
svg text {{ fill: currentColor; }}
svg .axis {{ stroke: currentColor; }}
svg .ideal {{ stroke: currentColor; stroke-dasharray: 4; }}
svg .mark {{ fill: var(--accent); fill-opacity: .6; }}
</style></head><body>
<h1>{title}</h1>
"""
_SIZE = 300
_EDGE = 40
# Percent of the accent in the darkest cell, whose text must stay readable.
_DARKEST = 60


def write(
    output_file: str | os.PathLike[str], title: str, parts: Iterable[str]
) -> None:
    """Writes a page, whole or not at all.

    Args:
        output_file: the page.
        title: text.
        parts: its HTML, escaped.

    Raises:
        OSError: it cannot be written.
    """
    with atomic_open(output_file) as writer:
        writer.write(_HEAD.format(title=escape(title)).encode())
        for part in parts:
            # JSON can hold a lone surrogate, which UTF-8 cannot.
            writer.write(part.encode(errors="replace") + b"\n")
        writer.write(b"</body></html>\n")
    logging.info("Wrote the report %s", os.fspath(output_file))


def escape(value: object) -> str:
    """Returns a value as text in HTML; numbers with four digits."""
    return html.escape(
        f"{value:.4g}" if isinstance(value, float) else str(value)
    )


def section(title: str, entries: Sequence[str], total: int) -> Iterator[str]:
    """Yields a heading such as "5 of 12 are shown", then the entries."""
    count = f"{total}"
    if len(entries) < total:
        count = f"{len(entries)} of {total} are shown"
    yield f"<h2>{escape(title)} ({count})</h2>"
    yield from entries


def table(
    header: Sequence[object],
    rows: Iterable[Sequence[object]],
    shades: Sequence[Sequence[float]] = (),
) -> str:
    """Returns a table, the first cell of each row its name.

    Args:
        header: names of the columns.
        rows: their cells.
        shades: darkness of each cell except the first, 0 to 1; () for white.
    """
    lines = [f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in header)}"]
    for number, (name, *cells) in enumerate(rows):
        line = f"<tr><th>{escape(name)}</th>"
        for column, cell in enumerate(cells):
            shade = ""
            if shades:
                share = round(_DARKEST * shades[number][column])
                shade = f' class="shade" style="--share: {share}%"'
            line += f"<td{shade}>{escape(cell)}</td>"
        lines.append(line)
    body = "</tr>\n".join(lines)
    return f'<div class="scroll"><table>{body}</tr></table></div>'


def chart(
    points: Iterable[tuple[float, float, float]],
    limits: tuple[float, float],
    x_title: str,
    y_title: str,
) -> str:
    """Returns a scatter plot with equal axes and a diagonal.

    Args:
        points: (x, y, radius in pixels).
        limits: minimum and maximum of both axes.
        x_title: what x is.
        y_title: what y is.
    """
    low, high = limits
    if low == high:
        low, high = low - 1, high + 1

    def place(value: float) -> float:
        return _SIZE * (value - low) / (high - low)

    end = _EDGE + _SIZE
    marks = "".join(
        f'<circle class="mark" cx="{_EDGE + place(x):.1f}" '
        f'cy="{10 + _SIZE - place(y):.1f}" r="{radius:.1f}"/>'
        for x, y, radius in points
    )
    bottom = 10 + _SIZE
    return (
        f'<svg viewBox="0 0 {end + 20} {bottom + 45}" role="img" '
        f'aria-label="{escape(y_title)} by {escape(x_title)}">'
        f'<path class="axis" fill="none" '
        f'd="M{_EDGE} 10V{bottom}H{end}"/>'
        f'<path class="ideal" d="M{_EDGE} {bottom}L{end} 10"/>{marks}'
        f'<text x="{_EDGE}" y="{bottom + 16}">{escape(low)}</text>'
        f'<text x="{end}" y="{bottom + 16}" text-anchor="end">'
        f"{escape(high)}</text>"
        f'<text x="{_EDGE + _SIZE / 2}" y="{bottom + 34}" '
        f'text-anchor="middle">{escape(x_title)}</text>'
        f'<text x="{_EDGE - 6}" y="{bottom}" text-anchor="end">'
        f"{escape(low)}</text>"
        f'<text x="{_EDGE - 6}" y="20" text-anchor="end">'
        f"{escape(high)}</text>"
        f'<text transform="translate(14 {10 + _SIZE / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_title)}</text></svg>'
    )
