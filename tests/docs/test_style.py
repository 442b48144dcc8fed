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

# A pattern is usually a noun that became a pronoun, or an unusual word.
RULES = {
    "those of": r"\b(those|that) of\b",
    "next to": r"\bnext to\b",
    "alone": r"\balone\b",
    "leave out": r"\b(left|leaves?) out\b",
    "what is": r"\b[Ww]hat (is|was|it|a|the)\b",
    "refuse": r"\b[Rr]efuse[sd]?\b",
    "give": r"\b[Gg]iven?\b|\b[Gg]ives\b",
    "has": r"\b(has|holds|takes)\b",
    "made": r"\bmade\b|\bmakes?\b",
    "worth, figure": r"\bworth\b|\bfigures?\b",
    "share, further": r"\bshares?\b|\bfurther\b",
    "likewise": r"\b(likewise|lest|beforehand)\b|\bthe (former|latter)\b",
    "semicolon": r";(?!$)",
    "Args of": r"(?m)^\s+\w+: (of|its|as|those)\b",
}
# Hits in: pages, docstrings, comments, errors.
BUDGET: dict[str, tuple[int, ...]] = {
    "those of": (3, 0, 0, 0),
    "next to": (0, 0, 0, 0),
    "alone": (0, 0, 0, 0),
    "leave out": (0, 0, 0, 0),
    "what is": (55, 0, 0, 0),
    "refuse": (0, 0, 0, 0),
    "give": (0, 1, 0, 0),
    "has": (20, 58, 15, 45),
    "made": (7, 3, 2, 0),
    "worth, figure": (0, 2, 0, 0),
    "share, further": (8, 4, 2, 0),
    "likewise": (0, 0, 0, 0),
    "semicolon": (2, 0, 0, 177),
    "Args of": (0, 0, 0, 0),
}
KINDS = ("pages", "docstrings", "comments", "errors")
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


def count(rule):
    """Returns the hits of a rule in each kind of text."""
    return tuple(len(re.findall(RULES[rule], texts()[kind])) for kind in KINDS)


@pytest.mark.parametrize("rule", RULES)
def test_a_pattern_gets_no_more_frequent(rule):
    for kind, hits, most in zip(KINDS, count(rule), BUDGET[rule], strict=True):
        assert hits <= most, f"{kind}: {RULES[rule]}"


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
