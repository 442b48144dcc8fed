"""The encoder in a graph of ONNX against the network itself."""

import numpy as np
import pytest

import modeling
from exporting import export_formats
from tests.support.models import create_batch
from tests.support.serving.exports import LENGTH, create_model

pytest.importorskip("onnx", reason="needs requirements/onnx.txt")
pytest.importorskip("onnxruntime")

import onnxruntime

from exporting import onnx_writer

NETWORKS = {
    "BERT": {},
    "left to right": {"left_to_right": True},
    "another activation": {"changes": {"hidden_act": "silu"}},
    "no second segment": {"changes": {"type_vocab_size": 1}},
}
POSITIONS = 32


@pytest.fixture(params=NETWORKS)
def model(request):
    """A tiny encoder."""
    return create_model(modeling.BertModel, **NETWORKS[request.param])


def run_graph(model, batch):
    """Returns {name: output} of the model's graph."""
    graph = onnx_writer.create_graph(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph)
    inputs = {
        onnx_name: np.asarray(batch[name], np.int64)
        for name, onnx_name in export_formats.ONNX_NAME_OF_INPUT.items()
    }
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def create_features(model, lengths):
    batch = dict(create_batch(lengths, max(lengths)))
    segments = np.asarray(batch["segment_ids"])
    batch["segment_ids"] = segments % model.config.type_vocab_size
    return batch


def test_the_vectors_of_words_are_those_of_the_network(model):
    batch = create_features(model, [LENGTH, 7, 12])
    vectors = run_graph(model, batch)["last_hidden_state"]
    expected = model(batch, training=False)["sequence_output"]
    is_real = np.asarray(batch["input_mask"]) > 0
    np.testing.assert_allclose(
        vectors[is_real], np.asarray(expected)[is_real], 1e-4, 1e-4
    )


def test_the_pooled_vectors_are_those_of_the_network(model):
    batch = create_features(model, [LENGTH, 7, 12])
    expected = model(batch, training=False)["pooled_output"]
    np.testing.assert_allclose(
        run_graph(model, batch)["pooler_output"], expected, 1e-4, 1e-4
    )


def test_an_input_beyond_the_positions_fails():
    """Some runtimes would read zeros there."""
    model = create_model(modeling.BertModel)
    run_graph(model, create_features(model, [POSITIONS]))
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        run_graph(model, create_features(model, [POSITIONS + 1]))
