"""Finds the source files of the packages."""

from tests.support.golden import ROOT

PACKAGES = (
    "files",
    "imports",
    "command_line",
    "model_folders",
    "modeling",
    "data",
    "serving",
    "training",
)
# All folders with Python files, besides the scripts at the top.
ALL_FOLDERS = (*PACKAGES, "tools", "benchmarks", "docs", "examples", "tests")


def sources(folder):
    """Returns the Python files of a folder."""
    return sorted((ROOT / folder).rglob("*.py"))
