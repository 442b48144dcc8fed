"""Sizes of this project: a budget for each, which may only fall.

Whoever deletes lowers the budget, and nobody raises one.
"""

import re

import pytest

from tests.golden import ROOT

# Lines of Python in each folder. "." is the scripts at the top.
LINES = {
    ".": 1707,
    "benchmarks": 1199,
    "data": 9662,
    "docs": 189,
    "examples": 191,
    "files": 1199,
    "modeling": 6098,
    "serving": 4076,
    "tests": 19963,
    "tools": 726,
    "training": 4567,
}
# Different flags in docs/flags.md.
FLAGS = 143
# Markdown files in docs/, and their words without flags.md.
PAGES = 29
WORDS = 23561

# If a size falls by more than this, its budget must fall in the same commit.
SLACK = {"lines": 50, "flags": 0, "pages": 0, "words": 200}
ADVICE = """
{name}: {size} {unit}, and the budget is {budget}. Which of these people would
miss the addition within a month of work, and what can go in exchange?
- Somebody who fine-tunes, evaluates and exports a model on labeled text.
- Somebody who pretrains on text.
- Somebody who reproduces GLUE, SQuAD, NER, SWAG, or Google's bits.
- Somebody who serves a SavedModel, a LiteRT or an ONNX file.
- Somebody who reads the code to learn BERT, whom every deletion helps.
"""


def count_lines(folder):
    """Returns the lines of Python in a folder, or of the scripts for "."."""
    root = ROOT / folder
    paths = root.glob("*.py") if folder == "." else root.rglob("*.py")
    return sum(path.read_bytes().count(b"\n") for path in paths)


def measure():
    """Returns {name: (unit, size, budget)}."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    flags = set(re.findall(r"^\| `--(\w+)", texts.pop("flags.md"), re.M))
    words = sum(len(text.split()) for text in texts.values())
    return {
        **{
            folder: ("lines", count_lines(folder), budget)
            for folder, budget in LINES.items()
        },
        "docs/flags.md": ("flags", len(flags), FLAGS),
        "docs/*.md": ("pages", len(pages), PAGES),
        "words of docs": ("words", words, WORDS),
    }


@pytest.mark.parametrize("name", measure())
def test_a_size_only_falls(name):
    unit, size, budget = measure()[name]
    assert size <= budget, ADVICE.format(**locals())
    assert budget - size <= SLACK[unit], f"{name}: lower the budget to {size}"
