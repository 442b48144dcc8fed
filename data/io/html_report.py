"""Writes error reports: self-contained HTML pages by one template.

A task says what its page contains. report.html, the template, lists the keys of
what it shows, and says how the page looks. Jinja2 escapes every text.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from absl import logging

from files.atomic import atomic_open
from files.paths import StrPath

# Maximum examples that a section shows.
MAX_EXAMPLES = 1000


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


def write(
    output_file: StrPath,
    title: str,
    summary: Sequence[Text],
    sections: Iterable[Mapping[str, Any]],
) -> None:
    """Writes a page, complete or not at all.

    `summary` has the paragraphs below the heading. For `sections`, the rest of
    the page, see report.html.

    Raises:
        OSError: the file cannot be written.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html").generate(
        title=title, summary=summary, sections=sections, most=MAX_EXAMPLES
    )
    with atomic_open(output_file) as writer:
        for part in page:
            # JSON can hold a lone surrogate, which UTF-8 cannot.
            writer.write(part.encode(errors="replace"))
    logging.info("Wrote the report %s", os.fspath(output_file))


def show(value: Any) -> Any:
    """Returns a float as text with four digits, and other values unchanged."""
    return f"{value:.4g}" if isinstance(value, float) else value
