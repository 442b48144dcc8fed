"""Which format of an export is loaded, and by which engine."""

import pytest

from serving.engines.engine_loading import load_engine
from serving.engines.export_formats import FILE_OF_FORMAT
from tests.support.serving.engines import ENGINES
from tests.support.serving.exports import write_damaged


def test_a_format_without_a_file_names_the_formats_that_have_one(tmp_path):
    folder = write_damaged(tmp_path / "export")
    with pytest.raises(ValueError, match=r"choose one of saved_model$"):
        load_engine(folder, "onnx")


def test_a_package_that_is_not_installed_is_named(tmp_path, monkeypatch):
    folder = write_damaged(tmp_path / "export", "model.tflite")
    monkeypatch.setattr(
        "serving.engines.engine_loading.importlib.util.find_spec",
        lambda name: None,
    )
    with pytest.raises(ValueError, match="needs ai_edge_litert: "):
        load_engine(folder)


@pytest.mark.parametrize("name", ENGINES)
def test_the_engine_of_a_format_names_a_damaged_file(name, tmp_path):
    file = FILE_OF_FORMAT[name]
    folder = write_damaged(tmp_path / "export", file)
    with pytest.raises(OSError, match=file):
        load_engine(folder, name)
