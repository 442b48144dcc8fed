"""TensorFlow Serving's REST rules, as a table of requests and answers."""

import json

import numpy as np
import pytest
import tensorflow as tf

from serving.server import protocol, replies
from serving.server.protocol import RestError

TEXT = {"text": tf.TensorSpec([None], tf.string)}
PAIR = {name: tf.TensorSpec([None], tf.string) for name in ("a", "b")}
IDS = {"ids": tf.TensorSpec([None, None], tf.int32)}
NUMBERS = {
    "x": tf.TensorSpec([None], tf.float32),
    "y": tf.TensorSpec([None], tf.bool),
}

# (inputs of the signature, body, the arrays in it)
GOOD = [
    (TEXT, '{"instances": ["foo", "bar"]}', {"text": [b"foo", b"bar"]}),
    (TEXT, '{"instances": [{"text": "foo"}]}', {"text": [b"foo"]}),
    (TEXT, '{"instances": [{"b64": "AP8="}]}', {"text": [b"\0\xff"]}),
    (TEXT, '{"instances": [{"text": {"b64": "/w=="}}]}', {"text": [b"\xff"]}),
    (TEXT, '{"inputs": ["foo", {"b64": ""}]}', {"text": [b"foo", b""]}),
    (TEXT, '{"inputs": {"text": ["foo"]}}', {"text": [b"foo"]}),
    (TEXT, '{"inputs": {"text": [], "more": 1}}', {"text": []}),
    (
        TEXT,
        '{"instances": ["\\u00e9\\ud83d\\ude00"]}',
        {"text": ["é😀".encode()]},
    ),
    (
        PAIR,
        '{"instances": [{"a": "x", "b": "y"}, {"b": "v", "a": "u"}]}',
        {"a": [b"x", b"u"], "b": [b"y", b"v"]},
    ),
    (
        PAIR,
        '{"inputs": {"a": ["x"], "b": ["y", "z"]}, "more": {}}',
        {"a": [b"x"], "b": [b"y", b"z"]},
    ),
    (IDS, '{"instances": [[1, 2], [3, -4]]}', {"ids": [[1, 2], [3, -4]]}),
    (IDS, '{"inputs": [[1]]}', {"ids": [[1]]}),
    (
        NUMBERS,
        '{"inputs": {"x": [1, 2.5, NaN, -Infinity], "y": [true, false]}}',
        {"x": [1.0, 2.5, np.nan, -np.inf], "y": [True, False]},
    ),
]

# (inputs of the signature, body, the error)
BAD = [
    (TEXT, "", "JSON Parse error: The document is empty"),
    (TEXT, "{", "JSON Parse error: Expecting property name enclosed in "),
    (TEXT, "[1]", "JSON Value: [\n    1\n] Is not object"),
    (TEXT, "\xff", "JSON Parse error: "),
    (TEXT, "[" * 10**5, "JSON Parse error: nested too deeply"),
    (TEXT, '{"inputs": ' + "1" * 5000 + "}", "JSON Parse error: "),
    (TEXT, "{}", "Missing 'inputs' or 'instances' key"),
    (
        TEXT,
        '{"inputs": [], "instances": []}',
        "expecting only one of 'inputs' or 'instances' keys to exist ",
    ),
    (TEXT, '{"instances": 7}', "Excepting 'instances' to be an list/array"),
    (TEXT, '{"instances": []}', "No values in 'instances' array"),
    (
        PAIR,
        '{"instances": ["x"]}',
        "instances is a plain list, but expecting list of objects as multiple "
        "input tensors required as per tensorinfo_map",
    ),
    (
        PAIR,
        '{"inputs": ["x"]}',
        "inputs is a plain value/list, but expecting an object as multiple "
        "input tensors required as per tensorinfo_map",
    ),
    (
        PAIR,
        '{"inputs": {"a": ["x"]}}',
        "Missing named input: b in 'inputs' object.",
    ),
    (
        PAIR,
        '{"instances": [{"a": "x"}]}',
        "Failed to process element: 0 of 'instances' list. JSON object: "
        '{\n    "a": "x"\n} keys must be equal to: a,b',
    ),
    (
        PAIR,
        '{"instances": [{"a": "x", "b": "y"}, {"a": "", "b": "", "c": ""}]}',
        "Failed to process element: 1 key: c of 'instances' list. Error: "
        "INVALID_ARGUMENT: JSON object: does not have named input: c",
    ),
    (
        PAIR,
        '{"instances": [{"a": "x", "b": "y"}, "z"]}',
        "Expecting object but got list at item 1 of input list",
    ),
    (
        TEXT,
        '{"instances": ["x", {"text": "y"}]}',
        "Expecting value/list but got object at item 1 of input list",
    ),
    (
        TEXT,
        '{"instances": ["x", 7]}',
        "Failed to process element: 1 of 'instances' list. Error: "
        "INVALID_ARGUMENT: JSON Value: 7 Type: Number is not of expected "
        "type: string",
    ),
    (
        TEXT,
        '{"inputs": [null]}',
        "JSON Value: null Type: Null is not of expected type: string",
    ),
    (
        TEXT,
        '{"inputs": [{"b64": "*"}]}',
        "Unable to base64 decode",
    ),
    (
        TEXT,
        '{"inputs": [{"b64": 1}]}',
        "not formatted correctly for base64 data",
    ),
    (TEXT, '{"inputs": ["\\ud800"]}', "the surrogate pair is invalid"),
    (TEXT, '{"inputs": "x"}', "Tensor text must have shape [-1]. Received: []"),
    (
        TEXT,
        '{"inputs": [["x"]]}',
        "Tensor text must have shape [-1]. Received: [1,1]",
    ),
    (
        IDS,
        '{"inputs": [[1, 2], [3]]}',
        "Encountered list at unexpected size: 1 at level: 1 expected size: 2",
    ),
    (
        IDS,
        '{"inputs": [[1], 2]}',
        "JSON Value: 2 found at incorrect level: 2 in the JSON DOM. Expected "
        "at level: 2",
    ),
    (
        IDS,
        '{"inputs": [[1], [[2]]]}',
        "Encountered list at unexpected level: 2 expected < 2",
    ),
    (
        IDS,
        '{"instances": [[1, 2], [3]]}',
        "Expecting tensor size: 2 but got: 1",
    ),
    (
        IDS,
        '{"instances": [[[1, 2]], [[3], [4]]]}',
        "Expecting shape [1,2] but got: [2,1]",
    ),
    (
        IDS,
        '{"inputs": [[1.5]]}',
        "JSON Value: 1.5 Type: Number is not of expected type: int32",
    ),
    (
        IDS,
        '{"inputs": [[2147483648]]}',
        "JSON Value: 2147483648 Type: Number is not of expected type: int32",
    ),
    (
        IDS,
        '{"inputs": [[true]]}',
        "JSON Value: true Type: True is not of expected type: int32",
    ),
    (IDS, '{"inputs": ' + "[" * 99 + "]" * 99 + "}", "at unexpected level"),
]


@pytest.mark.parametrize("inputs, body, arrays", GOOD)
def test_requests_become_arrays(inputs, body, arrays):
    request = protocol.parse_body(body.encode())
    found = protocol.parse_inputs(request, inputs)
    assert found.keys() == arrays.keys()
    for name, value in found.items():
        np.testing.assert_array_equal(value.tolist(), arrays[name])
        wanted = inputs[name].dtype.as_numpy_dtype
        assert value.dtype == wanted


@pytest.mark.parametrize("inputs, body, message", BAD)
def test_what_breaks_the_rules_gets_its_error(inputs, body, message):
    with pytest.raises(RestError) as caught:
        request = protocol.parse_body(body.encode("latin-1"))
        protocol.parse_inputs(request, inputs)
    assert message in caught.value.message
    assert caught.value.status == 400
    # However long the request, its error is short.
    assert len(caught.value.message) < 1000


ONE = {"y": np.array([0.2, 1e-9, np.nan], np.float32)}
TWO = {
    "name": np.array([b"a", "é".encode()], object),
    "p": np.array([[1, 2], [3, 4]], np.int32),
}
# (request, outputs, the reply)
REPLIES = [
    ({"instances": 0}, ONE, '{"predictions": [0.2, 1e-09, NaN]}'),
    ({"inputs": 0}, ONE, '{"outputs": [0.2, 1e-09, NaN]}'),
    (
        {"instances": 0},
        TWO,
        '{"predictions": [{"name": "a", "p": [1, 2]}, '
        '{"name": "é", "p": [3, 4]}]}',
    ),
    (
        {"inputs": 0},
        TWO,
        '{"outputs": {"name": ["a", "é"], "p": [[1, 2], [3, 4]]}}',
    ),
    (
        {"instances": 0},
        {"image_bytes": np.array([b"\xff"], object)},
        '{"predictions": [{"b64": "/w=="}]}',
    ),
    ({"inputs": 0}, {"n": np.array(3)}, '{"outputs": 3}'),
]


@pytest.mark.parametrize("request_, outputs, reply", REPLIES)
def test_arrays_become_replies(request_, outputs, reply):
    found = replies.to_reply(request_, outputs)
    assert json.dumps(found, ensure_ascii=False) == reply


def test_replies_that_cannot_be_are_refused(monkeypatch):
    for outputs in ({"n": np.array(3)}, {"a": np.ones(2), "b": np.ones(3)}):
        with pytest.raises(RestError, match="inconsistent batch size"):
            replies.to_reply({"instances": 0}, outputs)
    monkeypatch.setattr(replies, "MAX_VALUES", 5)
    with pytest.raises(RestError, match="would hold 6 values") as caught:
        replies.to_reply({"inputs": 0}, {"a": np.ones([2, 3])})
    assert caught.value.status == 413


def test_paths():
    for path, name, version in [
        ("/v1/models/m:predict", "m", None),
        ("/V1/Models/m/Versions/12:PREDICT", "m", 12),
        ("/v1/models/a.b-c:classify", "a.b-c", None),
    ]:
        assert replies.parse_path(replies.CALL_PATH.fullmatch(path)) == (
            name,
            version,
        )
    for path, name, version in [
        ("/v1/models/m", "m", None),
        ("/v1/models/m/metadata", "m", None),
        ("/v1/models/m/versions/3/metadata", "m", 3),
    ]:
        assert replies.parse_path(replies.STATUS_PATH.fullmatch(path)) == (
            name,
            version,
        )
    for path, message in [
        ("/v1/models", "Missing model name in request."),
        ("/v1/models/m/labels/x", "Unrecognized servable version label: x"),
        (f"/v1/models/m/versions/{'9' * 30}", "Failed to convert version"),
    ]:
        with pytest.raises(RestError, match=message):
            replies.parse_path(replies.STATUS_PATH.fullmatch(path))
    for path in ("/v1/models/m:train", "/v1/models/m/versions/x:predict"):
        assert not replies.CALL_PATH.fullmatch(path)
