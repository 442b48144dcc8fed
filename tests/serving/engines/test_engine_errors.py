"""The errors of an engine, which say whose fault they are."""

from pathlib import Path

import pytest

from serving import engines
from serving.engines.engine import (
    EngineError,
    explain_engine_errors,
    explain_load_errors,
)
from tests.support.serving.stub_engines import NumpyEngine

FILE = Path("model/model.tflite")


def test_an_error_of_a_package_names_the_file():
    with (
        pytest.raises(OSError, match=r"model\.tflite cannot be loaded.*odd op"),
        explain_load_errors(FILE),
    ):
        raise RuntimeError("odd\n op")


@pytest.mark.parametrize(
    "error", [MemoryError("too large"), FileNotFoundError("gone")]
)
def test_errors_of_memory_and_of_files_stay_as_they_are(error):
    with pytest.raises(type(error)) as caught, explain_load_errors(FILE):
        raise error
    assert caught.value is error


def test_an_engine_error_is_a_value_error():
    with pytest.raises(ValueError, match="out of memory"):
        raise EngineError("out of memory")


def test_an_error_of_a_run_is_an_engine_error_of_one_line():
    with (
        pytest.raises(EngineError, match=r"failed on this input: odd op$"),
        explain_engine_errors(),
    ):
        raise RuntimeError("odd\n op")


def test_a_run_that_fails_without_a_message_lacks_memory():
    with (
        pytest.raises(EngineError, match="out of memory"),
        explain_engine_errors(),
    ):
        raise MemoryError


def test_a_bug_in_an_engine_is_not_an_engine_error():
    """Callers blame the model or the input for an EngineError."""
    features = engines.pad_batch([engines.NetworkInput([7], 1)], 8)
    engine = NumpyEngine()
    del engine.batches
    with pytest.raises(AttributeError, match="batches"):
        engine.run(features)
