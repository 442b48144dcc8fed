"""What a runtime raises becomes an error that names its file."""

from pathlib import Path

import pytest

from serving.engines.errors import EngineError, named_load_errors

FILE = Path("model/model.tflite")


def test_an_error_of_a_runtime_names_the_file():
    with (
        pytest.raises(OSError, match=r"model\.tflite cannot be loaded.*odd op"),
        named_load_errors(FILE),
    ):
        raise RuntimeError("odd\n op")


@pytest.mark.parametrize(
    "error", [MemoryError("too large"), FileNotFoundError("gone")]
)
def test_errors_of_memory_and_of_files_stay_as_they_are(error):
    with pytest.raises(type(error)) as caught, named_load_errors(FILE):
        raise error
    assert caught.value is error


def test_whoever_catches_a_value_error_catches_an_engine_error():
    with pytest.raises(ValueError, match="out of memory"):
        raise EngineError("out of memory")
