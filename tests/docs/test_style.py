"""The rules of the style sheet for the structure of a page."""

import re

import pytest

from docs.site_hooks import PAGE_OF_NOTEBOOK
from tests.support.paths import ROOT
from tests.support.source_files import BLOCK, PAGES

HOW_TO = re.compile(r"(?s)How-to guides:\n(.*?)\n  - Results:")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_reads_from_its_title_on(page):
    text = page.read_text(encoding="utf-8")
    assert not re.match(r"# .*\n+( {4}|```)", text), "code after the title"
    below = re.findall(r"^ *```\n\n([a-z].*)", text, re.M)
    assert not below, "a sentence that begins with the code above it"
    # In prose, or as NAME= in commands.
    defined = {
        *re.findall(r"\b[A-Z][A-Z_]+\b", BLOCK.sub("", text)),
        *re.findall(r"\b[A-Z][A-Z_]+(?==)", text),
    }
    used = {
        name
        for _, language, code in BLOCK.findall(text)
        if language == "bash"
        for name in re.findall(r"\$\{?([A-Z][A-Z_]+)\b", code)
    }
    assert used - {"PWD"} <= defined


def how_to_pages():
    """Returns the names of the how-to guides and tutorials."""
    listed = HOW_TO.search((ROOT / ".mkdocs.yml").read_text("utf-8"))[1]
    pages = set(re.findall(r"(\w+\.md)", listed)) - {*PAGE_OF_NOTEBOOK.values()}
    return sorted(pages | {p.name for p in PAGES if "tutorial_" in p.name})


@pytest.mark.parametrize("name", how_to_pages())
def test_a_guide_shows_its_output_and_the_next_page(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert re.search(r"^Next: .*\]\(", text, re.M)
    if name.startswith("tutorial_"):
        assert re.search(r"^ *```(text|json)$", text, re.M)
