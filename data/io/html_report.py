"""Writes reports about a model's wrong predictions, as self-contained HTML.

Each task passes the contents of its page to `write`. All pages use one
template, report.html. It documents the keys of the contents and defines the
layout. Jinja2 escapes all text.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from absl import logging

from files.atomic import atomic_open
from files.paths import StrPath

# Maximum number of examples that a section of the page shows.
MAX_EXAMPLES = 1000


class Span(NamedTuple):
    """A colored part of a text.

    Attributes:
        text: text of the span.
        kind: CSS class that determines the color: "right", "wrong",
            "predicted" or "both".
        note: text in smaller letters after the span.
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
    """Writes an HTML page. The file appears only when the page is complete.

    `summary` is a list of the paragraphs below the heading. `sections` are
    dicts with the keys that report.html documents.

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
            # JSON can contain a lone surrogate, which UTF-8 cannot encode.
            writer.write(part.encode(errors="replace"))
    logging.info("Wrote the report %s", os.fspath(output_file))


def show(value: Any) -> Any:
    """Formats a float with four significant digits. Keeps other values.

    Jinja2 calls this function for each value that it writes to the page.
    """
    return f"{value:.4g}" if isinstance(value, float) else value
