"""Versions of a model that take each other's place."""

import logging
import os
import shutil
import sys

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")


from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.signatures import Key
from serving.server.versions import ServedModel
from tests.script_runner import resident

CALL = Key("classify"), {"text_a": "a"}, 1


def create_model(folder):
    limits = Limits()
    return ServedModel("m", folder, limits, lambda *_: None)


def refresh(model):
    """Looks twice, because files must be at rest."""
    for _ in range(2):
        model.refresh()


@pytest.mark.slow
def test_memory_is_flat_over_versions(tmp_path, export_folder):
    """BERT_SOAK_VERSIONS makes a soak of it."""
    count = int(os.environ.get("BERT_SOAK_VERSIONS", "3"))
    model, memory = create_model(tmp_path), []
    for number in range(1, count + 1):
        (tmp_path / str(number)).symlink_to(export_folder / "classifier")
        refresh(model)
        assert model.current.number == number
        memory.append(resident(os.getpid()))
    model.current.close()
    print([round(each) for each in memory], "MB")
    assert max(memory) < 1.05 * memory[0]


@pytest.mark.slow
def test_an_export_replaced_in_place_is_served_once_it_is_whole(
    tmp_path, export_folder, caplog
):
    caplog.set_level(logging.INFO)
    folder = tmp_path / "m"
    shutil.copytree(export_folder / "classifier", folder)
    model = create_model(folder)
    model.refresh()
    first = model.current
    refresh(model)
    assert model.current is first
    # As `cp -r` leaves it halfway: the manifest lists what is not there yet.
    shutil.rmtree(folder / "variables")
    for file in (export_folder / "ner").iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    refresh(model)
    assert model.current is first
    assert "label" in first.batcher.submit(*CALL).result(60)
    for name in ("variables", "assets.extra", "assets"):
        shutil.copytree(
            export_folder / "ner" / name, folder / name, dirs_exist_ok=True
        )
    model.refresh()
    # They may still change.
    assert model.current is first
    model.refresh()
    assert model.current.description.tasks[0] == "tag"
    assert model.states == {1: ("AVAILABLE", "")}
    assert "m: loading changed version 1" in caplog.text
    call = Key("tag"), {"text": "a"}, 1
    assert model.current.batcher.submit(*call).result(60)["words"] == ["a"]
    model.current.close()


def test_a_version_whose_process_ends_is_loaded_again(
    tmp_path, folders, monkeypatch
):
    (tmp_path / "1").symlink_to(folders["classifier"])
    model = create_model(tmp_path)
    model.refresh()
    os.kill(model.current._process.pid, 9)
    with pytest.raises(RestError, match="process ended") as caught:
        model.current.batcher.submit(*CALL).result(60)
    assert caught.value.status == 503
    with monkeypatch.context() as patched:
        # For once its process ends at once.
        patched.setattr(sys, "executable", "/bin/false")
        model.refresh()
    model.refresh()
    assert "label" in model.current.batcher.submit(*CALL).result(60)
    model.current.close()


def test_the_newest_version_that_is_whole_is_served(tmp_path, folders, caplog):
    (tmp_path / "1").symlink_to(folders["classifier"])
    for number in (2, 3):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "model.tflite").write_bytes(b"damaged")
    model = create_model(tmp_path)
    for _ in range(3):
        model.refresh()
        assert model.current.number == 1
    states = {number: state for number, (state, _) in model.states.items()}
    assert states == {1: "AVAILABLE", 2: "END", 3: "END"}
    # Each was tried once, and said.
    assert caplog.text.count("cannot be loaded: ") == 2
    assert "serving version 1, because newer versions" in caplog.text
    # Its files come, one after the other.
    shutil.rmtree(tmp_path / "2")
    shutil.copytree(folders["classifier"], tmp_path / "2")
    refresh(model)
    assert model.current.number == 2
    model.current.close()
