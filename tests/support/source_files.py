"""Finds the source files of the packages, and the pages of the documentation.

For example:

    for path in sources("modeling"): imported(path)
    for source in parsed_sources("modeling", "tools"): ...
    check_none(places, "Import this at the top of the file.")
    for code in blocks(page.read_text("utf-8"), "python"): ...
"""

import ast
import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = (
    "files",
    "dependencies",
    "terminal",
    "options",
    "command_line",
    "model_folders",
    "modeling",
    "data",
    "exporting",
    "serving",
    "training",
)
# All folders with Python files, besides the scripts at the top.
ALL_FOLDERS = (*PACKAGES, "tools", "benchmarks", "docs", "examples", "tests")


def sources(folder: str) -> list[Path]:
    """Returns the Python files of a folder, which has some."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    # Else, a rule for the files of a renamed folder would always be kept.
    assert paths, folder
    return paths


@dataclasses.dataclass(frozen=True)
class Source:
    """A Python file, its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    def place(self, node: ast.stmt | ast.expr) -> str:
        """Returns "FILE:LINE" of a node of the tree, for a message."""
        return f"{self.path.relative_to(ROOT)}:{node.lineno}"


@functools.cache
def parse_source(path: Path) -> Source:
    """Returns the Source of a file, which no test changes."""
    text = path.read_text(encoding="utf-8")
    return Source(path, text, ast.parse(text))


def imported(path: Path) -> Iterator[str]:
    """Yields the dotted name of every module that a file imports."""
    for node in ast.walk(parse_source(path).tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # Ruff finds relative imports (TID252).
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files_of(name: str) -> list[Path]:
    """Returns the files of a module or package by its dotted name."""
    path = ROOT / Path(*name.split("."))
    files = [path.with_suffix(".py"), path / "__init__.py"]
    return [file for file in files if file.is_file()]


def check_none(places: Iterable[object], advice: str) -> None:
    """Fails if there are places that break a rule, and says what to do.

    Args:
        places: "FILE:LINE", paths, or other words that name the places.
        advice: a sentence for whoever broke the rule.
    """
    lines = [str(place).removeprefix(f"{ROOT}/") for place in places]
    if lines:
        pytest.fail("\n  ".join([advice, *lines]), pytrace=False)


def parsed_sources(*folders: str) -> Iterator[Source]:
    """Yields the Source of each script at the top, and of each in folders."""
    paths = [*ROOT.glob("*.py")]
    for folder in folders:
        paths += sources(folder)
    yield from map(parse_source, paths)


def defined_by(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names that statements define."""
    for node in nodes:
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                yield name


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
