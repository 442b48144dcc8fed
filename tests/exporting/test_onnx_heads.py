"""The head of each model in a graph of ONNX against the model itself."""

import keras
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

BATCH = create_batch([LENGTH, 7, 12], LENGTH)
CHOICES = {
    name: np.stack([values, values[::-1]], 1) for name, values in BATCH.items()
}
ROW = ["batch_size"]
WORDS = ["batch_size", "sequence_length"]


def create_biased_model(kind, *sizes):
    """Returns a tiny model whose biases are not zero."""
    model = create_model(kind, *sizes)
    rng = np.random.default_rng(0)
    for weight in model.weights:
        if not np.any(np.asarray(weight)):
            weight.assign(rng.normal(size=weight.shape))
    return model


def run_graph(model, *exported_output, batch=BATCH):
    """Returns {name: (its value, its declared shape)} of a model's graph."""
    graph = onnx_writer.create_graph(model, *exported_output)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    inputs = {
        onnx_name: np.asarray(batch[name], np.int64)
        for name, onnx_name in export_formats.ONNX_NAME_OF_INPUT.items()
    }
    # ONNX Runtime tells the shapes that it infers.
    shapes = {
        output.name: [
            size.dim_param or size.dim_value
            for size in output.type.tensor_type.shape.dim
        ]
        for output in graph.graph.output
    }
    values = session.run([*shapes], inputs)
    return {
        name: (value, shapes[name])
        for name, value in zip(shapes, values, strict=True)
    }


def check_outputs(outputs, expected):
    """Compares outputs with {name: (value, declared shape)}, in order."""
    assert [*outputs] == [*expected]
    for name, (value, shape) in expected.items():
        actual, declared = outputs[name]
        assert declared == shape, name
        np.testing.assert_allclose(
            actual, value, rtol=1e-4, atol=1e-4, err_msg=name
        )


def softmax(logits):
    return np.asarray(keras.ops.softmax(logits))


def test_an_encoder_without_a_head_has_hugging_faces_names():
    model = create_biased_model(modeling.BertModel)
    outputs = run_graph(model)
    width = model.config.hidden_size
    shapes = {name: shape for name, (_, shape) in outputs.items()}
    assert shapes == {
        "last_hidden_state": [*WORDS, width],
        "pooler_output": [*ROW, width],
    }


@pytest.mark.parametrize(
    ("exported_output", "name", "to_value"),
    [
        ("classification", "probabilities", softmax),
        ("multilabel", "probabilities", keras.ops.sigmoid),
    ],
)
def test_a_classifier_has_logits_and_probabilities(
    exported_output, name, to_value
):
    model = create_biased_model(modeling.BertClassifier, 3)
    logits = model(BATCH, training=False)
    shape = [*ROW, 3]
    expected = {"logits": (logits, shape), name: (to_value(logits), shape)}
    check_outputs(run_graph(model, exported_output), expected)


def test_windows_have_logits_alone():
    model = create_biased_model(modeling.BertClassifier, 3)
    expected = {"logits": (model(BATCH, training=False), [*ROW, 3])}
    check_outputs(run_graph(model, "logits"), expected)


def test_a_regression_has_a_value_without_an_axis_of_labels():
    model = create_biased_model(modeling.BertClassifier, 1)
    logits = np.asarray(model(BATCH, training=False))
    expected = {"logits": (logits, [*ROW, 1]), "values": (logits[:, 0], ROW)}
    check_outputs(run_graph(model, "regression"), expected)


def test_a_token_classifier_has_probabilities_of_each_position():
    model = create_biased_model(modeling.BertTokenClassifier, 5)
    logits = np.asarray(model(BATCH, training=False))
    is_real = BATCH["input_mask"] > 0
    value, shape = run_graph(model)["probabilities"]
    assert shape == [*WORDS, 5]
    np.testing.assert_allclose(
        value[is_real], softmax(logits)[is_real], rtol=1e-4, atol=1e-4
    )


def test_a_span_labeler_has_the_logits_of_both_ends():
    model = create_biased_model(modeling.BertSpanLabeler)
    logits = model(BATCH, training=False)
    outputs = run_graph(model)
    assert [*outputs] == ["start_logits", "end_logits"]
    is_real = BATCH["input_mask"] > 0
    for name, (value, shape) in outputs.items():
        assert shape == WORDS
        np.testing.assert_allclose(
            value[is_real],
            np.asarray(logits[name])[is_real],
            rtol=1e-4,
            atol=1e-4,
        )


def test_the_choices_of_a_row_share_its_probabilities():
    model = create_biased_model(modeling.BertMultipleChoice)
    logits = model(CHOICES, training=False)
    shape = [*ROW, "num_choices"]
    expected = {
        "logits": (logits, shape),
        "probabilities": (softmax(logits), shape),
    }
    check_outputs(run_graph(model, batch=CHOICES), expected)


def test_a_pretrainer_predicts_words_at_every_position():
    model = create_biased_model(modeling.BertPretrainer)
    positions = np.tile(np.arange(LENGTH, dtype=np.int32), (3, 1))
    logits = model({**BATCH, "masked_lm_positions": positions})
    outputs = run_graph(model)
    assert [*outputs] == [
        "logits",
        "masked_lm_probabilities",
        "next_sentence_probabilities",
    ]
    is_real = BATCH["input_mask"] > 0
    words = np.asarray(logits["masked_lm_logits"]).reshape(*is_real.shape, -1)
    expected = {"logits": words, "masked_lm_probabilities": softmax(words)}
    for name, value in expected.items():
        actual, shape = outputs[name]
        assert shape == [*WORDS, model.config.vocab_size]
        np.testing.assert_allclose(
            actual[is_real], value[is_real], rtol=1e-3, atol=1e-3
        )
    follows, shape = outputs["next_sentence_probabilities"]
    assert shape == [*ROW, 2]
    np.testing.assert_allclose(
        follows, softmax(logits["next_sentence_logits"]), rtol=1e-4, atol=1e-4
    )
