"""TensorFlow Serving's REST rules, as a table of requests and answers.

The answers are written down as TensorFlow Serving sends them; none is computed
by a function of the server.
"""

import asyncio
import json

import pytest
import tensorflow as tf

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from serving.server import app, limits, monitoring, versions, worker
from serving.server.batching import Batcher, Closed
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
    "uneven": (lambda x: {"a": x, "b": tf.repeat(x, 2)}, specs(tf.string, "x")),
    "constant": (lambda: {"n": tf.constant([1])}, []),
}

# A paragraph is: model body -> the complete answer, with status 200.
GOOD = r"""
text {"instances": ["foo", "bar"]} -> {"predictions": ["FOO", "BAR"]}

text {"instances": [{"text": "foo"}]} -> {"predictions": ["FOO"]}

text {"instances": [{"b64": "Zm9v"}]} -> {"predictions": ["FOO"]}

text {"instances": [{"text": {"b64": "Zm9v"}}]} -> {"predictions": ["FOO"]}

text {"inputs": ["foo", {"b64": ""}]} -> {"outputs": ["FOO", ""]}

text {"inputs": {"text": ["foo"]}} -> {"outputs": ["FOO"]}

text {"inputs": {"text": [], "more": 1}} -> {"outputs": []}

text {"instances": ["\u00e9\ud83d\ude00"]} -> {"predictions": ["É😀"]}

bytes {"instances": [{"b64": "AP8="}]} -> {"predictions": [{"b64": "AP8="}]}

bytes {"inputs": ["foo"]} -> {"outputs": [{"b64": "Zm9v"}]}

pair {"instances": [{"a": "x", "b": "y"}, {"b": "v", "a": "é"}]} ->
{"predictions": [{"ab": "xy", "n": [1, 2]}, {"ab": "év", "n": [1, 2]}]}

pair {"inputs": {"a": ["x", "u"], "b": ["y", "v"]}, "more": {}} ->
{"outputs": {"ab": ["xy", "uv"], "n": [[1, 2], [1, 2]]}}

ids {"instances": [[1, 2], [3, -4]]} -> {"predictions": [[2, 3], [4, -3]]}

ids {"inputs": [[1]]} -> {"outputs": [[2]]}

numbers {"inputs": {"x": [0.2, 1, 1e-9, NaN, -Infinity],
"y": [true, false, true, true, true]}} ->
{"outputs": {"x": [0.2, 1.0, 1e-09, NaN, -Infinity],
"y": [true, false, true, true, true]}}

scalar {"inputs": ["a", "b", "c"]} -> {"outputs": 3}
"""

# A paragraph is: model body -> part of the error, with status 400.
BAD = r"""
text { -> JSON Parse error: Expecting property name enclosed in

text {} -> Missing 'inputs' or 'instances' key

text {"inputs": [], "instances": []} ->
expecting only one of 'inputs' or 'instances' keys to exist

text {"instances": 7} -> Excepting 'instances' to be an list/array

text {"instances": []} -> No values in 'instances' array

constant {"inputs": {}} -> the signature lacks inputs

constant {"inputs": [1]} -> the signature lacks inputs

constant {"instances": [{}]} -> the signature lacks inputs

constant {"instances": [1]} -> does not have named input

text {"signature_name": "none", "instances": ["x"]} ->
Serving signature name: "none" not found in signature def

text {"signature_name": 7, "instances": ["x"]} ->
'signature_name' key must be a string value.

pair {"instances": ["x"]} ->
instances is a plain list, but expecting list of objects as multiple input
tensors required as per tensorinfo_map

pair {"inputs": ["x"]} ->
inputs is a plain value/list, but expecting an object as multiple input tensors
required as per tensorinfo_map

pair {"inputs": {"a": ["x"]}} -> Missing named input: b in 'inputs' object.

pair {"inputs": {"a": ["x"], "b": ["y", "z"]}} ->
input tensors must have equal 0th-dimension size

pair {"instances": [{}]} ->
Failed to process element: 0 of 'instances' list. JSON object: {} keys must be
equal to: a,b

pair {"instances": [{"a": "x", "b": "y"}, {"a": "", "b": "", "c": ""}]} ->
Failed to process element: 1 key: c of 'instances' list. Error:
INVALID_ARGUMENT: JSON object: does not have named input: c

pair {"instances": [{"a": "x", "b": "y"}, "z"]} ->
Expecting object but got list at item 1 of input list

text {"instances": ["x", {"text": "y"}]} ->
Expecting value/list but got object at item 1 of input list

text {"instances": ["x", 7]} ->
Failed to process element: 1 of 'instances' list. Error: INVALID_ARGUMENT: JSON
Value: 7 Type: Number is not of expected type: string

text {"inputs": [null]} ->
JSON Value: null Type: Null is not of expected type: string

text {"inputs": [{"b64": "*"}]} -> Unable to base64 decode

text {"inputs": [{"b64": 1}]} -> not formatted correctly for base64 data

text {"inputs": ["\ud800"]} -> the surrogate pair is invalid

text {"inputs": "x"} -> Tensor text must have shape [-1]. Received: []

text {"inputs": [["x"]]} -> Tensor text must have shape [-1]. Received: [1,1]

ids {"inputs": [[1, 2], [3]]} ->
Encountered list at unexpected size: 1 at level: 1 expected size: 2

ids {"inputs": [[1], 2]} ->
JSON Value: 2 found at incorrect level: 2 in the JSON DOM. Expected at level: 2

ids {"inputs": [[1], [[2]]]} ->
Encountered list at unexpected level: 2 expected < 2

ids {"instances": [[1, 2], [3]]} -> Expecting tensor size: 2 but got: 1

ids {"instances": [[[1, 2]], [[3], [4]]]} ->
Expecting shape [1,2] but got: [2,1]

ids {"inputs": [[1.5]]} ->
JSON Value: 1.5 Type: Number is not of expected type: int32

ids {"inputs": [[2147483648]]} ->
JSON Value: 2147483648 Type: Number is not of expected type: int32

ids {"inputs": [[true]]} ->
JSON Value: true Type: True is not of expected type: int32

scalar {"instances": ["x"]} ->
Tensor name: n has inconsistent batch size; use 'inputs'

uneven {"instances": ["x"]} ->
Tensor name: a has inconsistent batch size; use 'inputs'
"""

# A paragraph is: method path after /v1 -> status and part of the answer.
PATHS = r"""
GET /models/text -> 200 {"model_version_status": [{"version": "1", "state":
"AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}]}

GET /Models/text/Versions/1 -> 200 "error_code": "OK"

GET /models/text/metadata ->
200 {"model_spec": {"name": "text", "signature_name": "", "version": "1"},
"metadata": {"signature_def": {"signature_def": {"serving_default": {"inputs":
{"text": {"name": "serving_default_text:0", "dtype": "DT_STRING",
"tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": false}}},
"outputs": {"upper": {"name":

GET /models/text/versions/1/metadata ->
200 "method_name": "tensorflow/serving/predict"

GET /models -> 400 Missing model name in request.

GET /models/text/labels/x -> 400 Unrecognized servable version label: x

GET /models/text/versions/999999999999999999999 ->
400 Failed to convert version: 999999999999999999999 to numeric.

GET /models/text/versions/7 -> 404 Could not find version 7 of model text

GET /models/z -> 404 Could not find any versions of model z

GET /models/z/metadata ->
404 Servable not found for request: Latest(z)

GET /models/text:predict ->
400 Malformed request: GET /v1/models/text:predict

GET /models/text/versions/x ->
400 Malformed request: GET /v1/models/text/versions/x

POST /models/text:train -> 400 Malformed request: POST /v1/models/text:train

POST /models/text/versions/x:predict -> 400 Malformed request: POST

POST /models/z:predict -> 404 Servable not found for request: Latest(z)

POST /models/text/versions/2:predict ->
404 Servable not found for request: Specific(text, 2)

POST /models/text/labels/best:predict ->
400 Unrecognized servable version label: best

POST /models/text:classify ->
400 Expected classify signature method_name to be tensorflow/serving/classify.
Was: tensorflow/serving/predict
"""


def read_table(text):
    """Returns [first word, rest of the request, answer] of each paragraph."""
    table = []
    for paragraph in text.strip().split("\n\n"):
        request, answer = " ".join(paragraph.split("\n")).split(" ->")
        table.append([*request.split(" ", 1), answer.strip()])
    return table


class Here(versions.LoadedVersion):
    """A version in this process: tests of serve.py have a process for each."""

    def __init__(self, path, number, limits, on_batch):
        self.number = number
        version = worker.Version(path, limits)
        self.description = version.description
        self.batcher = Batcher(version.run, limits, on_batch)

    def _end(self):
        pass


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """(method, path, body) -> status and text of the server's answer."""
    models, options = {}, Limits()
    for name, (function, inputs) in MODELS.items():
        module, path = tf.Module(), tmp_path_factory.mktemp(name)
        module.serve = tf.function(function, inputs, autograph=False)
        tf.saved_model.save(module, path, {"serving_default": module.serve})
        models[name] = versions.ServedModel(
            name, path, options, lambda *_: None
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "LoadedVersion", Here)
        for model in models.values():
            model.refresh()
    server = app.Server(models, options, monitoring.Monitoring())

    def ask(method, path, body=b""):
        sent = []

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": method, "headers": []}
        scope["path"] = f"/v1{path}"
        asyncio.run(server(scope, receive, send))
        text = b"".join(one["body"] for one in sent[1:]).decode()
        if sent[0]["status"] >= 400:
            assert json.loads(text).keys() == {"error"}
            text = json.loads(text)["error"]
            # However long the request, its error is short.
            assert len(text) < 1000
        return sent[0]["status"], text

    yield ask
    for model in models.values():
        model.current.close()


def same(text):
    """Returns JSON as text in one order, because NaN is not equal to itself."""
    return json.dumps(json.loads(text), sort_keys=True)


@pytest.mark.parametrize("model, body, answer", read_table(GOOD))
def test_good_requests(ask, model, body, answer):
    for path in (
        f"/models/{model}:predict",
        f"/Models/{model}/Versions/1:PREDICT",
    ):
        status, found = ask("POST", path, body.encode())
        assert status == 200 and same(found) == same(answer)


@pytest.mark.parametrize(
    "model, body, message",
    [
        *read_table(BAD),
        ("text", "", "JSON Parse error: The document is empty"),
        ("text", "[1]", "JSON Value: [\n    1\n] Is not object"),
        ("text", "\xff", "JSON Parse error: "),
        ("text", "[" * 10**5, "JSON Parse error: nested too deeply"),
        ("text", '{"inputs": ' + "1" * 5000 + "}", "JSON Parse error: "),
        (
            "ids",
            '{"inputs": ' + "[" * 99 + "]" * 99 + "}",
            "at unexpected level",
        ),
    ],
)
def test_what_breaks_the_rules_gets_its_error(ask, model, body, message):
    path = f"/models/{model}:predict"
    status, error = ask("POST", path, body.encode("latin-1"))
    assert status == 400 and message in error


@pytest.mark.parametrize("method, path, answer", read_table(PATHS))
def test_paths(ask, method, path, answer):
    body = b'{"instances": ["x"]}' if method == "POST" else b""
    status, text = ask(method, path, body)
    expected, part = answer.split(" ", 1)
    assert status == int(expected) and part in text


@pytest.mark.parametrize("form", ["instances", "inputs"])
def test_rows_are_counted_before_they_are_read(ask, form):
    body = json.dumps({form: [""] * 200 + [1]}).encode()
    status, error = ask("POST", "/models/text:predict", body)
    assert status == 413 and "201 texts are more than 128" in error


def test_a_request_is_answered_by_the_version_that_replaced_its_own(
    ask, monkeypatch
):
    submit, closed = Batcher.submit, []

    def close_once(*call):
        if not closed:
            closed.append(call)
            raise Closed("it was replaced", 503)
        return submit(*call)

    monkeypatch.setattr(Batcher, "submit", close_once)
    status, _ = ask("POST", "/models/text:predict", b'{"inputs": ["a"]}')
    assert status == 200 and closed


def test_a_reply_too_large_for_the_memory_is_refused(ask, monkeypatch):
    monkeypatch.setattr(limits, "MAX_VALUES", 5)
    body = b'{"inputs": [[1, 2], [3, 4], [5, 6]]}'
    status, error = ask("POST", "/models/ids:predict", body)
    assert status == 413 and "The reply would contain up to 6 values" in error
