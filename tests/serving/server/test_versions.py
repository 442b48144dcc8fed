"""Versions of a model that take each other's place."""

import weakref

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

import tensorflow as tf

from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.versions import ServedModel


class _Upper(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def serve(self, text):
        return {"upper": tf.strings.upper(text)}


def save(folder):
    module = _Upper()
    tf.saved_model.save(module, folder, {"serving_default": module.serve})


def create_model(folder):
    limits = Limits(allow_any_operation=True)
    return ServedModel("m", folder, limits, lambda *_: None)


def test_the_version_before_is_freed(tmp_path):
    for number in (1, 2):
        save(tmp_path / str(number))
        if number == 1:
            model = create_model(tmp_path)
            model.refresh()
            before = weakref.ref(model.current.model.engine._loaded)
    model.refresh()
    assert model.current.number == 2
    assert before() is None
    model.current.batcher.close()


def test_the_newest_version_that_is_whole_is_served(tmp_path, caplog):
    save(tmp_path / "1")
    for number in (2, 3):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "saved_model.pb").write_bytes(b"damaged")
    model = create_model(tmp_path)
    for _ in range(2):
        model.refresh()
        assert model.current.number == 1
    states = {number: state for number, (state, _) in model.states.items()}
    assert states == {1: "AVAILABLE", 2: "END", 3: "END"}
    with pytest.raises(RestError):
        model.find(3)
    # Each was tried once, and said.
    assert caplog.text.count("cannot be loaded: ") == 2
    assert "version 1 is served, as a newer one cannot be" in caplog.text
    # Its files come, one after the other.
    save(tmp_path / "2")
    model.refresh()
    assert model.current.number == 2
    model.current.batcher.close()
