"""Every signature of every export, by TensorFlow Serving's REST rules."""

import base64
import json

import numpy as np
import pytest
import tensorflow as tf

import modeling
from serving.classifier import export_multiple_choice
from serving.server import protocol, replies
from tests.serving.conftest import LABELS, TEXTS, TOKENIZER, create_model

IDS = {
    "input_ids": [[1, 5, 7, 2], [1, 9, 2, 0], [1, 2, 0, 0]],
    "input_mask": [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]],
    "segment_ids": [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
}
CHOICES = {name: [rows, rows] for name, rows in IDS.items()}


def predict(model, **body):
    """Returns the reply, a dict, to the body of a :predict request."""
    request = protocol.parse_body(json.dumps(body).encode())
    function = model.signatures[protocol.signature_name(request)]
    specs = function.structured_input_signature[1]
    arrays = protocol.parse_inputs(request, specs)
    outputs = function(
        **{
            name: tf.constant(array, specs[name].dtype)
            for name, array in arrays.items()
        }
    )
    arrays = {name: value.numpy() for name, value in outputs.items()}
    return json.loads(json.dumps(replies.to_reply(request, arrays)))


@pytest.fixture(scope="module")
def models(exports, load, export_folder):
    """{name: loaded SavedModel} of every kind of export."""
    path = export_folder / "multiple_choice"
    model = create_model(modeling.BertMultipleChoice)
    export_multiple_choice(path, model, TOKENIZER)
    loaded = {name: load(name).saved_model for name in exports}
    return loaded | {path.name: tf.saved_model.load(path)}


def requests_of(name, signature, specs):
    """Returns the columns of a signature's request."""
    if all(spec.dtype == tf.string for spec in specs.values()):
        texts = ["[MASK] " + text for text in TEXTS]
        return {
            field: texts[number:] + texts[:number]
            for number, field in enumerate(specs)
        }
    return CHOICES if name == "multiple_choice" else IDS


@pytest.mark.slow
def test_every_signature_keeps_the_rules(models):
    num_signatures = 0
    for name, model in models.items():
        for signature, function in model.signatures.items():
            specs = function.structured_input_signature[1]
            columns = requests_of(name, signature, specs)
            rows = [
                dict(zip(columns, row, strict=True))
                for row in zip(*columns.values(), strict=True)
            ]
            where = f"{name}, {signature}"

            def ask(model=model, signature=signature, **body):
                return predict(model, signature_name=signature, **body)

            by_row = ask(instances=rows)["predictions"]
            assert len(by_row) == len(rows), where
            by_column = ask(inputs=columns)["outputs"]
            if isinstance(by_column, dict):
                by_row = {k: [row[k] for row in by_row] for k in by_column}
            assert by_row == by_column, where
            # Strings are text, so none may be named as if it were binary.
            for output, spec in function.structured_outputs.items():
                if spec.dtype == tf.string:
                    assert not output.endswith("_bytes"), where
            if len(specs) == 1:
                (values,) = columns.values()
                bare = ask(instances=values)
                assert len(bare["predictions"]) == len(values), where
                encoded = [
                    {"b64": base64.b64encode(text.encode()).decode()}
                    for text in values
                ]
                assert ask(instances=encoded) == bare, where
            num_signatures += 1
    # serving_default too, which is `serve` over ids; and `tokenize` and
    # `attention` of all that take text.
    assert num_signatures == 6 * 2 + 5 * 2 + len(
        [
            *("classify", "classify_text", "answer", "answer_n_best"),
            *("tag", "tag_words", "fill_mask", "next_sentence", "embed"),
        ]
    )


def test_a_text_alone_is_classified_as_with_no_second(models):
    model = models["classifier"]
    texts = ["The harbor light is on.", "", "A boat"]
    alone = predict(model, signature_name="classify_text", instances=texts)
    pairs = [{"text_a": text, "text_b": ""} for text in texts]
    expected = predict(model, signature_name="classify", instances=pairs)
    for found, row in zip(
        alone["predictions"], expected["predictions"], strict=True
    ):
        assert found["labels"] == row["labels"] == LABELS
        assert found["label"] == row["label"]
        np.testing.assert_allclose(
            found["probabilities"], row["probabilities"], atol=1e-6
        )
