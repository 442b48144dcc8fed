"""The shapes and names with which Keras exports a model.

test_keras_export_formats.py exports each model in each format, and runs
it.
"""

import keras
import numpy as np
import pytest

import modeling
from modeling.keras_export import (
    create_shape_options,
    create_signature,
    to_functional_model,
)
from tests.support.models import SMALL, built

IDS = {
    "input_ids": np.array([[1, 2, 3]], "int32"),
    "input_mask": np.array([[1, 1, 0]], "int32"),
    "segment_ids": np.array([[0, 1, 0]], "int32"),
}


def test_a_signature_leaves_every_size_open():
    (features,) = create_signature({"input_ids": 2, "choice_ids": 3})
    shapes = {name: spec.shape for name, spec in features.items()}
    assert shapes == {
        "input_ids": (None, None),
        "choice_ids": (None, None, None),
    }


def test_a_signature_is_of_int32_features_by_their_names():
    (features,) = create_signature({"input_ids": 2})
    spec = features["input_ids"]
    assert (spec.name, spec.dtype) == ("input_ids", "int32")


@pytest.mark.backends
def test_a_format_that_keras_cannot_write_is_refused():
    model = modeling.BertClassifier(SMALL, 2)
    with pytest.raises(ValueError, match="Received: format='openvino'"):
        create_shape_options(model, "openvino")


def test_tensorflow_needs_no_options_for_open_sizes():
    model = modeling.BertClassifier(SMALL, 2)
    assert create_shape_options(model, "tf_saved_model") == {}


def test_jax_reads_the_axes_that_have_one_size(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    model = modeling.BertPretrainer(SMALL)
    options = create_shape_options(model, "tf_saved_model")["jax2tf_kwargs"]
    assert options["polymorphic_shapes"] == [
        {
            "input_ids": "(batch, length)",
            "input_mask": "(batch, length)",
            "segment_ids": "(batch, length)",
            "masked_lm_positions": "(batch, positions)",
        }
    ]


def test_the_outputs_of_each_block_get_names_of_their_own():
    model = built(modeling.BertModel(SMALL))
    assert [*to_functional_model(model).output] == [
        "embedding_output",
        "all_encoder_layers_0",
        "sequence_output",
        "pooled_output",
    ]


def test_a_flat_model_computes_what_the_model_does():
    model = built(modeling.BertModel(SMALL))
    outputs, expected = to_functional_model(model)(IDS), model(IDS)
    np.testing.assert_allclose(
        outputs["all_encoder_layers_0"],
        expected["all_encoder_layers"][0],
        rtol=0,
        atol=1e-6,
    )
