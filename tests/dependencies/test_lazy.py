"""The names of the packages that import them at their first use."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import data.text
import exporting
import modeling
import serving
from tests.support.source_files import parse_source

# A package with one name, and its module, which is heavy to import.
LAZY_PACKAGE = """
from typing import TYPE_CHECKING
from dependencies import lazy
if TYPE_CHECKING:
    from lazy_package.heavy import answer as answer
_MODULE_OF_NAME = {"answer": "lazy_package.heavy"}
__all__ = [*_MODULE_OF_NAME]
__getattr__ = lazy.create_importer(__name__, _MODULE_OF_NAME)
"""

PACKAGES_WITH_NAMES = (data.text, exporting, modeling, serving)
PACKAGES = pytest.mark.parametrize("package", PACKAGES_WITH_NAMES)
NAMES = pytest.mark.parametrize(
    ("package", "name"),
    [
        (package, name)
        for package in PACKAGES_WITH_NAMES
        for name in package.__all__
    ],
)


@PACKAGES
def test_a_package_names_what_type_checkers_see(package):
    """The dict for Python contains the imports under TYPE_CHECKING."""
    tree = parse_source(Path(package.__file__)).tree
    imports = {
        alias.asname: statement.module
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in block.body
        for alias in statement.names
    }
    assert imports == package._MODULE_OF_NAME


@NAMES
def test_a_package_has_the_names_of_its_modules(package, name):
    module = importlib.import_module(package._MODULE_OF_NAME[name])
    assert getattr(package, name) is getattr(module, name)


@NAMES
def test_a_package_imports_a_name_once(package, name):
    value = getattr(package, name)
    assert vars(package)[name] is value


@PACKAGES
def test_an_unknown_name_is_an_error(package):
    message = f"module '{package.__name__}' has no attribute 'Unknown'"
    with pytest.raises(AttributeError, match=message):
        package.Unknown  # noqa: B018  the attribute is looked up


@pytest.fixture
def lazy_package(tmp_path, monkeypatch):
    """The imported package LAZY_PACKAGE, of which no name was used yet."""
    folder = tmp_path / "lazy_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(LAZY_PACKAGE)
    (folder / "heavy.py").write_text("answer = 42")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("lazy_package")
    for name in ("lazy_package", "lazy_package.heavy"):
        sys.modules.pop(name, None)


def test_a_package_lists_its_names_and_imports_no_module(lazy_package):
    assert lazy_package.__all__ == ["answer"]
    assert "lazy_package.heavy" not in sys.modules


def test_the_first_use_of_a_name_imports_its_module(lazy_package):
    assert lazy_package.answer == 42
    assert "lazy_package.heavy" in sys.modules
