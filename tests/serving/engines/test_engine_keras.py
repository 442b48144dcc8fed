"""Replies of the small engines against the network in Keras.

tests/serving/engines/test_engine.py compares all engines with each other.
"""

import keras
import pytest

import serving
from tests.support.serving import exports
from tests.support.serving.engines import ENGINES
from tests.support.serving.exports import LABELS, LENGTH, TEXTS, TOKENIZER


@pytest.mark.parametrize("engine", ENGINES[:2])
def test_a_reply_is_computed_as_by_the_network(engine, tmp_path):
    model = exports.export_model(
        "classifier", tmp_path / "model", exports.create_options(engine)
    )
    bert = serving.load(tmp_path / "model", engine=engine)
    (reply,) = bert.classify(TEXTS[:1])
    logits = model(TOKENIZER(TEXTS[:1], max_length=LENGTH), training=False)
    expected = keras.ops.convert_to_numpy(keras.ops.softmax(logits))[0]
    assert [*reply["probabilities"]] == LABELS
    assert [*reply["probabilities"].values()] == pytest.approx(
        expected, abs=1e-5
    )
