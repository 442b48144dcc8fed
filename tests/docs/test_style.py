"""Words that the style sheet replaces: a budget for each, which may only fall.

Whoever writes fewer of them lowers the budget. Nobody raises one.
"""

import ast
import functools
import re
import tokenize

import pytest

from tests.docs.test_pages import BLOCK, PAGES, SOURCES
from tests.golden import ROOT

KINDS = ("pages", "docstrings", "comments", "errors")
# {pattern: the most hits in each of KINDS}. A pattern is usually a noun that
# became a pronoun, or an unusual word.
BUDGET = {
    r"\b(those|that) of\b": (3, 0, 0, 0),
    r"\bnext to\b": (0, 0, 0, 0),
    r"\balone\b": (0, 0, 0, 0),
    r"\b(left|leaves?) out\b": (0, 0, 0, 0),
    r"\b[Ww]hat (is|was|it|a|the)\b": (55, 0, 0, 0),
    r"\b[Rr]efuse[sd]?\b": (0, 0, 0, 0),
    r"\b[Gg]iven?\b|\b[Gg]ives\b": (0, 1, 0, 0),
    r"\b(has|holds|takes)\b": (20, 58, 15, 45),
    r"\bmade\b|\bmakes?\b": (7, 3, 2, 0),
    r"\bworth\b|\bfigures?\b": (0, 2, 0, 0),
    r"\bshares?\b|\bfurther\b": (8, 4, 2, 0),
    r"\b(likewise|lest|beforehand)\b|\bthe (former|latter)\b": (0, 0, 0, 0),
    r";(?!$)": (2, 0, 0, 177),
    r"(?m)^\s+\w+: (of|its|as|those)\b": (0, 0, 0, 0),
}
GENERATED = {"flags.md", "changelog.md"}
BENCHMARKS = {"results.md", "performance.md"}
HOW_TO = re.compile(r"(?s)How-to guides:\n(.*?)\n  - Results:")


def prose(page):
    """Returns a page without its code and addresses."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`\n]+`|\]\([^)]+\)", "", text)


@functools.cache
def texts():
    """Returns {kind: all its text}."""
    pages = [prose(page) for page in PAGES if page.name not in GENERATED]
    docstrings, comments, errors = [], [], []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef
            ) and (found := ast.get_docstring(node)):
                docstrings.append(found)
            elif isinstance(node, ast.Raise) and node.exc:
                parts = [
                    part.value.replace("\n", " ")
                    for part in ast.walk(node.exc)
                    if isinstance(part, ast.Constant)
                    and isinstance(part.value, str)
                ]
                errors += [" ".join(parts)] * bool(parts)
        with path.open("rb") as lines:
            comments += [
                token.string
                for token in tokenize.tokenize(lines.readline)
                if token.type == tokenize.COMMENT
            ]
    found = (pages, docstrings, comments, errors)
    return {k: "\n".join(t) for k, t in zip(KINDS, found, strict=True)}


@pytest.mark.parametrize("pattern", BUDGET)
def test_a_pattern_gets_no_more_frequent(pattern):
    for kind, most in zip(KINDS, BUDGET[pattern], strict=True):
        hits = re.findall(pattern, texts()[kind])
        assert len(hits) <= most, kind


def test_guides_address_you():
    text = "\n".join(
        prose(page)
        for page in PAGES
        if page.name not in GENERATED | BENCHMARKS
        and not page.name.startswith("benchmark_")
    )
    thousands = len(text.split()) / 1000
    assert len(re.findall(r"\b[Yy]ours?\b|\b[Yy]ou\b", text)) >= 10 * thousands


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
    listed = HOW_TO.search((ROOT / ".mkdocs.yml").read_text("utf-8"))[1]
    found = set(re.findall(r"(\w+\.md)", listed)) - {"notebook.md"}
    return sorted(found | {p.name for p in PAGES if "tutorial_" in p.name})


@pytest.mark.parametrize("name", how_to_pages())
def test_a_guide_shows_its_output_and_the_next_page(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert re.search(r"^Next: .*\]\(", text, re.M)
    if name.startswith("tutorial_"):
        assert re.search(r"^ *```(text|json)$", text, re.M)
