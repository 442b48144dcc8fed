"""Which folder is an export, which format is loaded, and by which engine."""

import logging

import pytest

import serving
from exporting.export_formats import FILE_OF_FORMAT
from serving.engines.engine_loading import find_export_folder, load_engine
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


def test_the_newest_of_numbered_versions_is_asked(
    tmp_path, saved_models_folder
):
    # Links, as a copy of each takes long; the others cannot be loaded.
    for name in ("2", "9", "latest", "11x"):
        write_damaged(tmp_path / name)
    (tmp_path / "10").symlink_to(saved_models_folder / "features")
    # One that is still being copied.
    (tmp_path / "12").mkdir()
    assert serving.load(tmp_path).text_task_names[0] == "embed"


@pytest.mark.parametrize(
    "file", ["model.tflite", "onnx/model.onnx", "saved_model.pb"]
)
def test_a_folder_with_a_model_of_any_format_is_an_export(file, tmp_path):
    folder = write_damaged(tmp_path / "export", file)
    assert find_export_folder(folder) == folder


def test_the_folder_of_a_run_stands_for_its_export(tmp_path, caplog):
    (tmp_path / "run").mkdir()
    export = write_damaged(tmp_path / "run_model")
    caplog.set_level(logging.INFO)
    assert find_export_folder(tmp_path / "run") == export
    assert f"using {export}" in caplog.text


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing does not exist"):
        find_export_folder(tmp_path / "missing")


def test_a_folder_without_an_export_tells_how_to_write_one(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"--export_dir=\S+_model"):
        find_export_folder(tmp_path)
