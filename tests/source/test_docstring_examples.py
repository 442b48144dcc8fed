"""Runs the examples in docstrings that begin with `>>>`."""

import doctest
import importlib

import pytest

from tests.support.paths import ROOT
from tests.support.source_files import PACKAGES, sources

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in PACKAGES
    for path in sources(package)
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_show_what_the_code_returns(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed
