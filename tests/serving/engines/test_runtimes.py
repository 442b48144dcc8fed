"""The table of runtimes names what exists."""

import importlib

import pytest

from serving.engines.engine import Engine
from serving.engines.runtimes import RUNTIME_OF_FORMAT


@pytest.mark.parametrize("name", RUNTIME_OF_FORMAT)
def test_the_engine_of_a_runtime_is_a_class_of_its_module(name):
    pytest.importorskip(RUNTIME_OF_FORMAT[name].package)
    module = importlib.import_module(f"serving.engines.{name}")
    engine = getattr(module, RUNTIME_OF_FORMAT[name].engine_class)
    assert issubclass(engine, Engine)
    assert engine.name == name
