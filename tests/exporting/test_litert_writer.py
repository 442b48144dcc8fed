"""The file model.tflite: its signature, and the model that it leaves alone."""

import numpy as np
import pytest

import modeling
from exporting.embed_signatures import create_embed_signatures
from exporting.litert_writer import write_litert
from modeling.layers import all_layers
from serving.engines import load_engine
from tests.support.models import create_batch
from tests.support.serving.engines import needs_engine
from tests.support.serving.exports import LENGTH, create_model, create_options

BATCH = create_batch([LENGTH, 7], LENGTH)


@pytest.fixture(scope="module")
def model():
    """An encoder in mixed precision that trims padding."""
    return create_model(
        modeling.BertModel, trim_padding=True, dtype="mixed_bfloat16"
    )


def write_encoder(folder, model, **changes):
    """Writes the model.tflite of an encoder, and returns its path."""
    options = create_options("litert", **changes)
    signatures = create_embed_signatures(model, {}, options)
    path = folder / "model.tflite"
    write_litert(path, model, signatures, options)
    return path


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    """The model.tflite of the encoder."""
    return write_encoder(tmp_path_factory.mktemp("litert"), model)


def test_only_the_file_is_left_in_the_folder(path):
    assert [*path.parent.iterdir()] == [path]


@needs_engine("litert")
def test_the_file_contains_one_signature_of_ids(path):
    from ai_edge_litert.interpreter import Interpreter

    assert Interpreter(str(path)).get_signature_list() == {
        "serve": {
            "inputs": ["input_ids", "input_mask", "segment_ids"],
            "outputs": ["pooled_output", "sequence_output"],
        }
    }


@needs_engine("litert")
def test_the_file_computes_in_32_bits_and_with_padding(path, model):
    exact = create_model(modeling.BertModel)
    exact.set_weights(model.get_weights())
    outputs = load_engine(path.parent, "litert").run(BATCH)
    expected = exact(BATCH)
    for name, values in outputs.items():
        np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-5)


@needs_engine("litert")
def test_a_fixed_length_is_the_length_of_all_inputs(model, tmp_path):
    write_encoder(tmp_path, model, fixed_length=16)
    inputs = load_engine(tmp_path, "litert").inputs
    assert {*inputs.values()} == {(None, 16)}


@pytest.mark.usefixtures("path")
def test_the_model_skips_padding_as_before(model):
    assert model.trim_padding


@pytest.mark.usefixtures("path")
def test_the_model_computes_in_mixed_precision_as_before(model):
    policies = {layer.dtype_policy.name for layer in all_layers(model)}
    assert policies == {"mixed_bfloat16"}
