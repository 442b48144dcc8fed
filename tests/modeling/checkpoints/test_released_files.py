"""Checkpoints that others wrote: Google's own names, and another project's."""

import numpy as np
import pytest
import tensorflow as tf

from modeling import BertPretrainer, load_checkpoint, load_config
from modeling.checkpoints.names import original_name
from tests import golden
from tests.checkpoints import listed
from tests.models import built


@pytest.mark.parametrize("name", ["keras_bert_test", "chinese_index"])
def test_googles_own_files(name):
    folder = golden.shared(f"data/checkpoints/{name}")
    path = folder / "bert_model.ckpt"
    model = built(BertPretrainer(load_config(folder)))
    shapes = {original_name(w): list(w.shape) for w in model.weights}
    assert shapes == listed(path)


def test_a_checkpoint_of_another_implementation():
    folder = golden.shared("data/checkpoints/keras_bert_test")
    path = str(folder / "bert_model.ckpt")
    model = BertPretrainer(load_config(folder))
    report = load_checkpoint(model, path)
    assert not report.missing
    assert not report.unused  # Adam's slots and the step do not count.
    reader = tf.train.load_checkpoint(path)
    for weight in model.weights:
        np.testing.assert_array_equal(
            weight, reader.get_tensor(original_name(weight))
        )
