"""The version of the project."""

from imports.version import read_version
from tests.support.golden import ROOT


def test_a_checkout_has_the_version_of_its_file():
    assert read_version() == (ROOT / "VERSION").read_text("utf-8").strip()
