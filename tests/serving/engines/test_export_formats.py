"""Which folder of a path is the export."""

import logging

import pytest

import serving
from serving.engines.export_formats import find_export_folder
from tests.support.serving.exports import write_damaged


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
