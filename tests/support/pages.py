"""Finds the pages of the documentation, and their blocks of code.

For example:

    for code in blocks(page.read_text("utf-8"), "python"):
"""

import re

from tests.support.paths import ROOT

PAGES = sorted(
    [
        *(ROOT / "docs").glob("*.md"),
        *ROOT.glob(".github/*.md"),
        *ROOT.glob("*.md"),
    ],
    key=lambda path: path.relative_to(ROOT),
)
# A block of `python` is run here. One of `py` needs files or packages that are
# not at hand.
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.M | re.S)


def blocks(text: str, language: str) -> list[str]:
    """Returns the code of a page's blocks of a language."""
    matches = BLOCK.findall(text)
    return [code for _, name, code in matches if name == language]
