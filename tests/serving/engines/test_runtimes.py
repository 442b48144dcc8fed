"""The table of runtimes names what exists."""

import importlib

import pytest

from serving.engines.engine import Engine
from serving.engines.runtimes import RUNTIMES


@pytest.mark.parametrize("name", RUNTIMES)
def test_the_engine_of_a_runtime_is_a_class_of_its_module(name):
    pytest.importorskip(RUNTIMES[name].package)
    module = importlib.import_module(f"serving.engines.{name}")
    engine = getattr(module, RUNTIMES[name].engine)
    assert issubclass(engine, Engine)
    assert engine.name == name
