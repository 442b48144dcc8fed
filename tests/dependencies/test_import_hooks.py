"""Code that runs around the first import of a package."""

import contextlib
import functools
import importlib
import importlib.util
import sys

import pytest

from dependencies.import_hooks import surround_import

NAME = "nobody_imports_this"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Returns the file of a package that nobody has imported."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / f"{NAME}.py"
    sys.modules.pop(NAME, None)


@contextlib.contextmanager
def recording(events, name):
    """Adds when the context is entered and left, and whether it failed."""
    events.append(f"{name} begins")
    try:
        yield
    except ValueError:
        events.append(f"{name} fails")
        raise
    events.append(f"{name} ends")


def test_only_an_import_runs_in_the_contexts(package):
    package.write_text("")
    finders = [*sys.meta_path]
    events = []
    for name in ("first", "second"):
        surround_import(NAME, functools.partial(recording, events, name))
    importlib.import_module("email")
    assert importlib.util.find_spec(NAME).origin == str(package)
    assert not events
    importlib.import_module(NAME)
    begun = ["second begins", "first begins"]
    assert events == [*begun, "first ends", "second ends"]
    assert sys.meta_path == finders


def test_an_import_that_failed_runs_in_the_context_again(package):
    package.write_text("raise ValueError")
    events = []
    surround_import(NAME, functools.partial(recording, events, "it"))
    with pytest.raises(ValueError):  # noqa: PT011  it has no message
        importlib.import_module(NAME)
    package.write_text("value = 1")
    assert importlib.import_module(NAME).value == 1
    assert events == ["it begins", "it fails", "it begins", "it ends"]
