"""Writes error reports: self-contained HTML pages by one template.

A task says what its page contains, as sections. report.html, the template, says
how the page looks. Jinja2 escapes every text.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from absl import logging

from files.atomic import atomic_open

# Maximum examples that a section shows.
MAX_EXAMPLES = 1000
# Percent of the accent color in the darkest cell, whose text must be readable.
_DARKEST = 60


class Span(NamedTuple):
    """A colored part of a text.

    Attributes:
        text: the part.
        kind: what its color says: right, wrong, predicted or both.
        note: smaller text that follows the part.
    """

    text: str
    kind: str
    note: str = ""


Text = str | Sequence[str | Span]


class Table(NamedTuple):
    """A table. Numbers that are floats are shown with four digits.

    Attributes:
        header: names of the columns.
        rows: the cells of each row; the first one is the row's name.
        shades: darkness from 0 to 1 of each cell but the row's name; () for a
            table without colors.
    """

    header: Sequence[object]
    rows: Sequence[Sequence[object]]
    shades: Sequence[Sequence[float]] = ()


class Chart(NamedTuple):
    """A scatter plot with equal axes and a diagonal.

    Attributes:
        points: (x, y, radius in pixels) of each point.
        low: minimum of both axes.
        high: maximum of both axes.
        x_title: name of the x axis.
        y_title: name of the y axis.
    """

    points: Sequence[tuple[float, float, float]]
    low: float
    high: float
    x_title: str
    y_title: str


class Entry(NamedTuple):
    """An example that unfolds.

    Attributes:
        lines: lines that are always shown.
        headings: lines above them, in bold.
        paragraphs: texts that unfold.
        table: a table that unfolds below them.
        is_open: whether the example starts unfolded.
    """

    lines: Sequence[str]
    headings: Sequence[str] = ()
    paragraphs: Sequence[Text] = ()
    table: Table | None = None
    is_open: bool = False


class Section(NamedTuple):
    """A part of a page, shown in the order of the attributes.

    Attributes:
        title: the heading, followed by the number of examples.
        paragraphs: texts.
        chart: a chart.
        table: a table.
        entries: examples, of which the page shows the first MAX_EXAMPLES; None
            for a section that is not about examples.
    """

    title: str
    paragraphs: Sequence[Text] = ()
    chart: Chart | None = None
    table: Table | None = None
    entries: Sequence[Entry] | None = None


def write(
    output_file: str | os.PathLike[str],
    title: str,
    summary: Sequence[Text],
    sections: Iterable[Section],
) -> None:
    """Writes a page, complete or not at all.

    Args:
        output_file: path of the page.
        title: heading of the page.
        summary: paragraphs below the heading.
        sections: the rest of the page.

    Raises:
        OSError: the file cannot be written.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html").generate(
        title=title,
        summary=summary,
        sections=sections,
        most=MAX_EXAMPLES,
        darkest=_DARKEST,
    )
    with atomic_open(output_file) as writer:
        for part in page:
            # JSON can hold a lone surrogate, which UTF-8 cannot.
            writer.write(part.encode(errors="replace"))
    logging.info("Wrote the report %s", os.fspath(output_file))


def show(value: Any) -> Any:
    """Returns a float as text with four digits, and other values unchanged."""
    return f"{value:.4g}" if isinstance(value, float) else value
