"""`help` and docs/api.md list what the packages offer."""

import re

import pytest

import data.text
import exporting
import modeling
import serving
from tests.support.paths import ROOT

PAGE = (ROOT / "docs/api.md").read_text("utf-8")


@pytest.mark.parametrize("package", [data.text, exporting, serving])
def test_help_describes_every_name(package):
    listed = re.findall(r"^ {0,4}(\w+): ", package.__doc__, re.MULTILINE)
    assert sorted(listed) == sorted(package.__all__)


@pytest.mark.parametrize("package", [data.text, exporting, modeling, serving])
def test_the_page_describes_every_name(package):
    for name in package.__all__:
        value = getattr(package, name)
        is_loss = value.__module__ == "modeling.losses"
        entry = "modeling.losses" if is_loss else f"{package.__name__}.{name}"
        assert f"\n::: {entry}\n" in PAGE
