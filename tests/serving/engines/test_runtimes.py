"""Which export of a folder is opened, and with which runtime."""

import importlib
import logging

import pytest

import serving
from serving.engines.engine import Engine
from serving.engines.runtimes import (
    RUNTIME_OF_FORMAT,
    find_export_folder,
    load_engine,
)


def write_model(folder, file="saved_model.pb"):
    """Writes a damaged model, and returns its folder."""
    path = folder / file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    return folder


def test_the_newest_of_numbered_versions_is_asked(tmp_path, export_folder):
    # Links, as a copy of each takes long; the others cannot be loaded.
    for name in ("2", "9", "latest", "11x"):
        write_model(tmp_path / name)
    (tmp_path / "10").symlink_to(export_folder / "features")
    # One that is still being copied.
    (tmp_path / "12").mkdir()
    assert serving.load(tmp_path).tasks[0] == "embed"


@pytest.mark.parametrize(
    "file", ["model.tflite", "onnx/model.onnx", "saved_model.pb"]
)
def test_a_folder_with_a_model_of_any_format_is_an_export(file, tmp_path):
    folder = write_model(tmp_path / "export", file)
    assert find_export_folder(folder) == folder


def test_the_folder_of_a_run_stands_for_its_export(tmp_path, caplog):
    (tmp_path / "run").mkdir()
    export = write_model(tmp_path / "run_model")
    caplog.set_level(logging.INFO)
    assert find_export_folder(tmp_path / "run") == export
    assert f"using {export}" in caplog.text


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing does not exist"):
        find_export_folder(tmp_path / "missing")


def test_a_folder_without_an_export_tells_how_to_write_one(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"--export_dir=\S+_model"):
        find_export_folder(tmp_path)


def test_a_runtime_without_a_file_names_the_runtimes_that_have_one(tmp_path):
    folder = write_model(tmp_path / "export")
    with pytest.raises(ValueError, match=r"choose one of saved_model$"):
        load_engine(folder, "onnx")


def test_a_runtime_that_is_not_installed_is_named(tmp_path, monkeypatch):
    folder = write_model(tmp_path / "export", "model.tflite")
    monkeypatch.setattr(
        "serving.engines.runtimes.importlib.util.find_spec", lambda name: None
    )
    with pytest.raises(ValueError, match="needs ai_edge_litert: "):
        load_engine(folder)


@pytest.mark.parametrize("name", RUNTIME_OF_FORMAT)
def test_the_engine_of_a_runtime_is_a_class_of_its_module(name):
    pytest.importorskip(RUNTIME_OF_FORMAT[name].package)
    module = importlib.import_module(f"serving.engines.{name}")
    engine = getattr(module, RUNTIME_OF_FORMAT[name].engine_class)
    assert issubclass(engine, Engine)
    assert engine.name == name
