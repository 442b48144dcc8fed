"""The names of the packages that import them at their first use.

imports/lazy.py delays these imports.
"""

import importlib

import pytest

import modeling
import serving

PACKAGES = pytest.mark.parametrize("package", [modeling, serving])
NAMES = pytest.mark.parametrize(
    ("package", "name"),
    [
        (package, name)
        for package in (modeling, serving)
        for name in package.__all__
    ],
)


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
