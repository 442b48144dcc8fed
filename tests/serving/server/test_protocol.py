"""TensorFlow Serving's REST rules, as a table of requests and answers.

The answers are written down as TensorFlow Serving sends them; none is computed
by a function of the server.
"""

import asyncio
import json

import pytest
import tensorflow as tf

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from serving.server import app, monitoring, replies, versions
from serving.server.limits import Limits


def specs(dtype, *names, rank=1):
    return [tf.TensorSpec([None] * rank, dtype, name) for name in names]


# {name of a model: (its function, the specs of its inputs)}
MODELS = {
    "text": (
        lambda text: {"upper": tf.strings.upper(text, "utf-8")},
        specs(tf.string, "text"),
    ),
    "pair": (
        lambda a, b: {"ab": a + b, "n": tf.tile([[1, 2]], [tf.size(a), 1])},
        specs(tf.string, "a", "b"),
    ),
    "ids": (lambda ids: {"next": ids + 1}, specs(tf.int32, "ids", rank=2)),
    "numbers": (
        lambda x, y: {"x": x, "y": y},
        specs(tf.float32, "x") + specs(tf.bool, "y"),
    ),
    "bytes": (lambda x: {"image_bytes": x}, specs(tf.string, "x")),
    "scalar": (lambda x: {"n": tf.size(x)}, specs(tf.string, "x")),
    "uneven": (
        lambda x: {"a": x, "b": tf.repeat(x, 2)},
        specs(tf.string, "x"),
    ),
}

# (model, body, the answer)
GOOD = [
    (
        "text",
        '{"instances": ["foo", "bar"]}',
        '{"predictions": ["FOO", "BAR"]}',
    ),
    ("text", '{"instances": [{"text": "foo"}]}', '{"predictions": ["FOO"]}'),
    ("text", '{"instances": [{"b64": "Zm9v"}]}', '{"predictions": ["FOO"]}'),
    (
        "text",
        '{"instances": [{"text": {"b64": "Zm9v"}}]}',
        '{"predictions": ["FOO"]}',
    ),
    ("text", '{"inputs": ["foo", {"b64": ""}]}', '{"outputs": ["FOO", ""]}'),
    ("text", '{"inputs": {"text": ["foo"]}}', '{"outputs": ["FOO"]}'),
    ("text", '{"inputs": {"text": [], "more": 1}}', '{"outputs": []}'),
    (
        "text",
        '{"instances": ["\\u00e9\\ud83d\\ude00"]}',
        '{"predictions": ["É😀"]}',
    ),
    (
        "bytes",
        '{"instances": [{"b64": "AP8="}]}',
        '{"predictions": [{"b64": "AP8="}]}',
    ),
    ("bytes", '{"inputs": ["foo"]}', '{"outputs": [{"b64": "Zm9v"}]}'),
    (
        "pair",
        '{"instances": [{"a": "x", "b": "y"}, {"b": "v", "a": "é"}]}',
        '{"predictions": [{"ab": "xy", "n": [1, 2]}, '
        '{"ab": "év", "n": [1, 2]}]}',
    ),
    (
        "pair",
        '{"inputs": {"a": ["x", "u"], "b": ["y", "v"]}, "more": {}}',
        '{"outputs": {"ab": ["xy", "uv"], "n": [[1, 2], [1, 2]]}}',
    ),
    (
        "ids",
        '{"instances": [[1, 2], [3, -4]]}',
        '{"predictions": [[2, 3], [4, -3]]}',
    ),
    ("ids", '{"inputs": [[1]]}', '{"outputs": [[2]]}'),
    (
        "numbers",
        '{"inputs": {"x": [0.2, 1, 1e-9, NaN, -Infinity], '
        '"y": [true, false, true, true, true]}}',
        '{"outputs": {"x": [0.2, 1.0, 1e-09, NaN, -Infinity], '
        '"y": [true, false, true, true, true]}}',
    ),
    ("scalar", '{"inputs": ["a", "b", "c"]}', '{"outputs": 3}'),
]

# (model, body, part of the error)
BAD = [
    ("text", "", "JSON Parse error: The document is empty"),
    ("text", "{", "JSON Parse error: Expecting property name enclosed in "),
    ("text", "[1]", "JSON Value: [\n    1\n] Is not object"),
    ("text", "\xff", "JSON Parse error: "),
    ("text", "[" * 10**5, "JSON Parse error: nested too deeply"),
    ("text", '{"inputs": ' + "1" * 5000 + "}", "JSON Parse error: "),
    ("text", "{}", "Missing 'inputs' or 'instances' key"),
    (
        "text",
        '{"inputs": [], "instances": []}',
        "expecting only one of 'inputs' or 'instances' keys to exist ",
    ),
    ("text", '{"instances": 7}', "Excepting 'instances' to be an list/array"),
    ("text", '{"instances": []}', "No values in 'instances' array"),
    (
        "pair",
        '{"instances": ["x"]}',
        "instances is a plain list, but expecting list of objects as multiple "
        "input tensors required as per tensorinfo_map",
    ),
    (
        "pair",
        '{"inputs": ["x"]}',
        "inputs is a plain value/list, but expecting an object as multiple "
        "input tensors required as per tensorinfo_map",
    ),
    (
        "pair",
        '{"inputs": {"a": ["x"]}}',
        "Missing named input: b in 'inputs' object.",
    ),
    (
        "pair",
        '{"instances": [{"a": "x"}]}',
        "Failed to process element: 0 of 'instances' list. JSON object: "
        '{\n    "a": "x"\n} keys must be equal to: a,b',
    ),
    (
        "pair",
        '{"instances": [{"a": "x", "b": "y"}, {"a": "", "b": "", "c": ""}]}',
        "Failed to process element: 1 key: c of 'instances' list. Error: "
        "INVALID_ARGUMENT: JSON object: does not have named input: c",
    ),
    (
        "pair",
        '{"instances": [{"a": "x", "b": "y"}, "z"]}',
        "Expecting object but got list at item 1 of input list",
    ),
    (
        "text",
        '{"instances": ["x", {"text": "y"}]}',
        "Expecting value/list but got object at item 1 of input list",
    ),
    (
        "text",
        '{"instances": ["x", 7]}',
        "Failed to process element: 1 of 'instances' list. Error: "
        "INVALID_ARGUMENT: JSON Value: 7 Type: Number is not of expected "
        "type: string",
    ),
    (
        "text",
        '{"inputs": [null]}',
        "JSON Value: null Type: Null is not of expected type: string",
    ),
    (
        "text",
        '{"inputs": [{"b64": "*"}]}',
        "Unable to base64 decode",
    ),
    (
        "text",
        '{"inputs": [{"b64": 1}]}',
        "not formatted correctly for base64 data",
    ),
    ("text", '{"inputs": ["\\ud800"]}', "the surrogate pair is invalid"),
    (
        "text",
        '{"inputs": "x"}',
        "Tensor text must have shape [-1]. Received: []",
    ),
    (
        "text",
        '{"inputs": [["x"]]}',
        "Tensor text must have shape [-1]. Received: [1,1]",
    ),
    (
        "ids",
        '{"inputs": [[1, 2], [3]]}',
        "Encountered list at unexpected size: 1 at level: 1 expected size: 2",
    ),
    (
        "ids",
        '{"inputs": [[1], 2]}',
        "JSON Value: 2 found at incorrect level: 2 in the JSON DOM. Expected "
        "at level: 2",
    ),
    (
        "ids",
        '{"inputs": [[1], [[2]]]}',
        "Encountered list at unexpected level: 2 expected < 2",
    ),
    (
        "ids",
        '{"instances": [[1, 2], [3]]}',
        "Expecting tensor size: 2 but got: 1",
    ),
    (
        "ids",
        '{"instances": [[[1, 2]], [[3], [4]]]}',
        "Expecting shape [1,2] but got: [2,1]",
    ),
    (
        "ids",
        '{"inputs": [[1.5]]}',
        "JSON Value: 1.5 Type: Number is not of expected type: int32",
    ),
    (
        "ids",
        '{"inputs": [[2147483648]]}',
        "JSON Value: 2147483648 Type: Number is not of expected type: int32",
    ),
    (
        "ids",
        '{"inputs": [[true]]}',
        "JSON Value: true Type: True is not of expected type: int32",
    ),
    ("ids", '{"inputs": ' + "[" * 99 + "]" * 99 + "}", "at unexpected level"),
    (
        "pair",
        '{"inputs": {"a": ["x"], "b": ["y", "z"]}}',
        "input tensors must have equal 0th-dimension size",
    ),
    (
        "scalar",
        '{"instances": ["x"]}',
        "Tensor name: n has inconsistent batch size; use 'inputs'",
    ),
    (
        "uneven",
        '{"instances": ["x"]}',
        "Tensor name: a has inconsistent batch size; use 'inputs'",
    ),
    (
        "text",
        '{"signature_name": "none", "instances": ["x"]}',
        'Serving signature name: "none" not found in signature def',
    ),
]
# (path after /v1, status, part of the answer)
PATHS = [
    ("/models/text", 200, '"version": "1", "state": "AVAILABLE"'),
    ("/Models/text/Versions/1", 200, '"error_code": "OK"'),
    ("/models/text/versions/1/metadata", 200, '"DT_STRING"'),
    ("/models", 400, "Missing model name in request."),
    ("/models/text/labels/x", 400, "Unrecognized servable version label: x"),
    (f"/models/text/versions/{'9' * 30}", 400, "Failed to convert version: 9"),
    ("/models/text/versions/x", 400, "Malformed request: GET /v1/models/text/"),
]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """(method, path, body) -> status and text of the server's answer."""
    models = {}
    for name, (function, inputs) in MODELS.items():
        module, path = tf.Module(), tmp_path_factory.mktemp(name)
        module.serve = tf.function(function, inputs, autograph=False)
        tf.saved_model.save(module, path, {"serving_default": module.serve})
        models[name] = versions.ServedModel(
            name, path, Limits(), lambda *_: None
        )
        models[name].refresh()
    server = app.Server(models, Limits(), monitoring.Monitoring())

    def ask(method, path, body=b""):
        sent = []

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": method, "path": path, "headers": []}
        asyncio.run(server.app(scope, receive, send))
        return sent[0]["status"], b"".join(one["body"] for one in sent[1:])

    yield ask
    for model in models.values():
        model.current.batcher.close()


@pytest.mark.parametrize("model, body, answer", GOOD)
def test_good_requests(ask, model, body, answer):
    for path in (
        f"models/{model}:predict",
        f"Models/{model}/Versions/1:PREDICT",
    ):
        status, found = ask("POST", f"/v1/{path}", body.encode())
        # Compared as text, because NaN is not equal to itself.
        found, expected = (
            json.dumps(json.loads(text), sort_keys=True)
            for text in (found, answer)
        )
        assert (status, found) == (200, expected)


@pytest.mark.parametrize("model, body, message", BAD)
def test_what_breaks_the_rules_gets_its_error(ask, model, body, message):
    path = f"/v1/models/{model}:predict"
    status, found = ask("POST", path, body.encode("latin-1"))
    answer = json.loads(found)
    assert status == 400 and answer.keys() == {"error"}
    assert message in answer["error"]
    # However long the request, its error is short.
    assert len(answer["error"]) < 1000


@pytest.mark.parametrize("path, status, part", PATHS)
def test_paths(ask, path, status, part):
    found, answer = ask("GET", f"/v1{path}")
    assert found == status and part in answer.decode()


def test_a_reply_too_large_for_the_memory_is_refused(ask, monkeypatch):
    monkeypatch.setattr(replies, "MAX_VALUES", 5)
    body = b'{"inputs": [[1, 2], [3, 4], [5, 6]]}'
    status, answer = ask("POST", "/v1/models/ids:predict", body)
    assert status == 413 and b"The reply would hold 6 values" in answer
