"""Versions of a model that take each other's place."""

import weakref

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

import tensorflow as tf

from serving.server.batching import BatchingOptions
from serving.server.versions import ServedModel


class _Upper(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def serve(self, text):
        return {"upper": tf.strings.upper(text)}


def test_the_version_before_is_freed(tmp_path):
    module = _Upper()
    for number in (1, 2):
        folder = tmp_path / str(number)
        tf.saved_model.save(module, folder, {"serving_default": module.serve})
        if number == 1:
            model = ServedModel(
                "m", tmp_path, BatchingOptions(), lambda *_: None
            )
            model.refresh()
            before = weakref.ref(model.current.model.saved_model)
    model.refresh()
    assert model.current.number == 2
    assert before() is None
    model.current.batcher.close()
