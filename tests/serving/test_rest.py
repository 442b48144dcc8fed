"""Every signature of every export, by TensorFlow Serving's REST rules.

The rules are those of its page "RESTful API": row format, column format, and
the mapping between tensors and JSON.
"""

import base64
import json

import numpy as np
import pytest
import tensorflow as tf

import modeling
from serving.classifier import export_multiple_choice
from tests.serving.conftest import LABELS, TEXTS, TOKENIZER, create_model

IDS = {
    "input_ids": [[1, 5, 7, 2], [1, 9, 2, 0], [1, 2, 0, 0]],
    "input_mask": [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]],
    "segment_ids": [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
}
CHOICES = {name: [rows, rows] for name, rows in IDS.items()}


class RestError(Exception):
    """An answer with status 400."""


def to_tensor(value, spec):
    """Returns the tensor of nested lists, of an input's type and shape."""

    def decode(item):
        if isinstance(item, list):
            return [decode(one) for one in item]
        if isinstance(item, dict):
            if [*item] != ["b64"]:
                raise RestError(f"an object is not {{'b64'}}: {item}")
            item = base64.b64decode(item["b64"])
        if isinstance(item, str | bytes) != (spec.dtype == tf.string):
            raise RestError(f"{item!r} is no {spec.dtype.name}")
        return item

    return tf.constant(decode(value), spec.dtype)


def to_json(name, value):
    """Returns an output as nested lists; names in `_bytes` are base64."""

    def encode(item):
        if isinstance(item, list):
            return [encode(one) for one in item]
        if isinstance(item, bytes):
            if name.endswith("_bytes"):
                return {"b64": base64.b64encode(item).decode()}
            return item.decode("utf-8")
        return item

    return encode(value.numpy().tolist())


def predict(model, body):
    """Returns the response, a dict, to the body of a :predict request."""
    request = json.loads(body)
    function = model.signatures[
        request.get("signature_name", "serving_default")
    ]
    specs = function.structured_input_signature[1]
    if ("instances" in request) == ("inputs" in request):
        raise RestError("give either instances or inputs")
    if "inputs" in request:
        inputs = request["inputs"]
        if not isinstance(inputs, dict):
            if len(specs) > 1:
                raise RestError("several inputs need an object")
            inputs = {name: inputs for name in specs}
    else:
        rows = request["instances"]
        is_named = [isinstance(row, dict) and [*row] != ["b64"] for row in rows]
        if not any(is_named):
            if len(specs) > 1:
                raise RestError("several inputs need objects")
            inputs = {name: rows for name in specs}
        elif all(is_named) and all({*row} == {*specs} for row in rows):
            inputs = {name: [row[name] for row in rows] for name in specs}
        else:
            raise RestError(f"each instance must have {sorted(specs)}")
    if {*inputs} != {*specs}:
        raise RestError(f"inputs must be {sorted(specs)}")
    outputs = function(
        **{name: to_tensor(inputs[name], spec) for name, spec in specs.items()}
    )
    values = {name: to_json(name, value) for name, value in outputs.items()}
    if "inputs" in request:
        (one,) = values.values() if len(values) == 1 else [values]
        return json.loads(json.dumps({"outputs": one}))
    for name, value in outputs.items():
        if not value.shape.rank or value.shape[0] != len(rows):
            raise RestError(
                f"{name} has shape {value.shape} for {len(rows)} instances"
            )
    if len(values) == 1:
        (predictions,) = values.values()
    else:
        predictions = [
            dict(zip(values, row, strict=True))
            for row in zip(*values.values(), strict=True)
        ]
    return json.loads(json.dumps({"predictions": predictions}))


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
            head = {"signature_name": signature}
            where = f"{name}, {signature}"
            by_row = predict(model, json.dumps({**head, "instances": rows}))
            by_row = by_row["predictions"]
            assert len(by_row) == len(rows), where
            by_column = predict(model, json.dumps({**head, "inputs": columns}))
            by_column = by_column["outputs"]
            if isinstance(by_column, dict):
                by_row = {k: [row[k] for row in by_row] for k in by_column}
            assert by_row == by_column, where
            # Strings are text, so none may be named as if it were binary.
            for output, spec in function.structured_outputs.items():
                if spec.dtype == tf.string:
                    assert not output.endswith("_bytes"), where
            if len(specs) == 1:
                (field,) = specs
                (values,) = columns.values()
                bare = predict(model, json.dumps({**head, "instances": values}))
                assert len(bare["predictions"]) == len(values), where
                encoded = [
                    {"b64": base64.b64encode(text.encode()).decode()}
                    for text in values
                ]
                encoded = {**head, "instances": encoded}
                assert predict(model, json.dumps(encoded)) == bare, where
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
    alone = predict(
        model,
        json.dumps({"signature_name": "classify_text", "instances": texts}),
    )["predictions"]
    pairs = [{"text_a": text, "text_b": ""} for text in texts]
    expected = predict(
        model, json.dumps({"signature_name": "classify", "instances": pairs})
    )["predictions"]
    for found, row in zip(alone, expected, strict=True):
        assert found["labels"] == row["labels"] == LABELS
        assert found["label"] == row["label"]
        np.testing.assert_allclose(
            found["probabilities"], row["probabilities"], atol=1e-6
        )


def test_what_breaks_the_rules_is_refused(models):
    model = models["classifier"]
    for body in [
        {"signature_name": "classify", "instances": ["a"]},
        {"signature_name": "classify", "instances": [{"text_a": "a"}]},
        {"signature_name": "classify_text", "instances": [7]},
        {"signature_name": "classify_text"},
    ]:
        with pytest.raises(RestError):
            predict(model, json.dumps(body))
