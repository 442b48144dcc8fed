"""The names of the packages that import them at their first use.

imports/lazy.py delays these imports.
"""

import importlib

import pytest

import modeling
import serving


@pytest.mark.parametrize("package", [modeling, serving])
def test_a_package_imports_a_name_once_and_reports_unknown_names(package):
    assert package.__all__
    for name in package.__all__:
        value = getattr(package, name)
        assert vars(package)[name] is value
        module = importlib.import_module(package._MODULES[name])
        assert value is getattr(module, name)
    message = f"module '{package.__name__}' has no attribute 'Unknown'"
    with pytest.raises(AttributeError, match=message):
        package.Unknown  # noqa: B018  the attribute is looked up
