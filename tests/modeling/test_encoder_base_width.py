"""One layer at the width of BERT-Base, against transformers' numbers."""

import keras
import pytest

from modeling.losses import PretrainingLoss
from tests.support import base_width, golden
from tests.testdata.golden.base_width import record


def outputs_of(model, features, training=False):
    """Returns {recorded name: tensor} of a batch."""
    encoded = model.bert(features, training=training)
    outputs = model(features, training=training)
    _, losses = PretrainingLoss()(outputs, features)
    return {
        "embedding_output": encoded["embedding_output"],
        "sequence_output": encoded["sequence_output"],
        **outputs,
        **losses,
    }


def read_recorded(kind):
    """Returns {name: norm and entries} of a kind of numbers of batch 0."""
    prefix = f"0/{kind}/"
    return {
        name.removeprefix(prefix): value
        for name, value in base_width.read_numbers().items()
        if name.startswith(prefix)
    }


@pytest.mark.backends
@pytest.mark.parametrize("version", ["real", *golden.VERSIONS])
def test_outputs_are_those_that_were_recorded(version):
    model = base_width.create_model("float32")
    features = record.create_batch(0)
    if version == "real":
        outputs = outputs_of(model, features)
    else:
        with golden.compute_in_version(version) as version:
            outputs = version.run(
                lambda: outputs_of(model, features, version.training)
            )
    arrays = {
        name: keras.ops.convert_to_numpy(value)
        for name, value in outputs.items()
    }
    base_width.assert_close(arrays, read_recorded("out"), 1e-4)


@pytest.mark.parametrize(
    ("version", "dtype", "tolerance"),
    [
        ("compiled", "float32", 1e-3),
        ("plain", "float64", 1e-9),
        pytest.param("plain", "float32", 1e-3, marks=pytest.mark.slow),
        pytest.param("compiled", "float64", 1e-9, marks=pytest.mark.slow),
    ],
)
def test_gradients_are_those_that_were_recorded(version, dtype, tolerance):
    model = base_width.create_model(dtype)
    with golden.compute_in_version(version) as version:
        gradients = golden.pretraining_gradients(
            model, record.create_batch(0), version
        )
    base_width.assert_close(gradients, read_recorded("gradient"), tolerance)
