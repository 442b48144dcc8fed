"""The Open Inference Protocol, spoken by Triton's client and by hand."""

import numpy as np
import pytest

from tests.serving.conftest import REQUESTS
from tests.serving.server.test_server import IDS

PATH = "/v2/models/{}/infer"
TEXT = {"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a boat"]}
INT64 = {"datatype": "INT64", "shape": [1, 2], "data": [[1, 2]]}


def test_what_a_server_says_of_itself_and_its_models(server):
    for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/ner/ready"):
        assert server.ask("GET", path)[0] == 200
    assert server.ask("GET", "/v2")[1]["extensions"] == ["binary_tensor_data"]
    _, found, _ = server.ask("GET", "/v2/models/ner/versions/1")
    assert found["name"] == "ner" and found["versions"] == ["1"]
    assert found["inputs"][0] == {
        "name": "input_ids",
        "datatype": "INT32",
        "shape": [-1, -1],
    }
    (output,) = found["outputs"]
    assert output["datatype"] == "FP32" and output["shape"] == [-1, -1, 5]
    for path in ("/v2/models/no", "/v2/models/no/ready"):
        assert server.ask("GET", path)[0] == 404


def test_tensors_in_json(server):
    body = {"inputs": [TEXT], "id": "x"}
    _, found, _ = server.ask("POST", PATH.format("classifier"), body)
    assert found["id"] == "x" and found["model_name"] == "classifier"
    outputs = {one["name"]: one for one in found["outputs"]}
    assert outputs["labels"]["shape"] == [1, 3]
    assert outputs["labels"]["data"] == ["no", "maybe", "yes"]
    body = {"signature_name": "classify_text", "instances": ["a boat"]}
    _, found, _ = server.ask("POST", "/v1/models/classifier:predict", body)
    (expected,) = found["predictions"]
    assert outputs["probabilities"]["data"] == expected["probabilities"]
    # Without rows nothing is computed.
    none = {"datatype": "INT32", "shape": [0, 2], "data": []}
    body = {"inputs": [{"name": name} | none for name in IDS]}
    _, found, _ = server.ask("POST", PATH.format("ner"), body)
    assert [one["shape"] for one in found["outputs"]] == [[0]]
    # Which signature, where two have the same inputs.
    body = {
        "parameters": {"signature_name": "tag_words"},
        "inputs": [TEXT | {"data": ["boats,"]}],
        "outputs": [{"name": "words"}],
    }
    _, found, _ = server.ask("POST", PATH.format("ner"), body)
    assert [one["data"] for one in found["outputs"]] == [["boats,"]]


# (inputs of a request, part of the error)
BAD = [
    (None, "must be lists of objects"),
    ([1], "must be lists of objects"),
    ([{"name": "x"}], "no signature of the model accepts these"),
    ([TEXT | {"datatype": "FP32"}], "text must have datatype BYTES. Received:"),
    ([TEXT | {"shape": [2]}], "text: 1 values do not fit the shape [2]"),
    ([TEXT | {"shape": [1, 1]}], "text must have shape [-1]"),
    ([TEXT | {"shape": [-1]}], "text needs a 'shape' of whole"),
    ([TEXT | {"data": [1]}], "Type: Number is not of expected"),
    (
        [TEXT | {"parameters": {"binary_data_size": 9}}],
        "that remain in the body. Received: 9",
    ),
    ([TEXT], "no output 'y'"),
    (
        [{"name": name} | INT64 | {"data": [1, 2**40]} for name in IDS],
        "1099511627776 Type: Number is not of expected type: int32",
    ),
]


@pytest.mark.parametrize("inputs, message", BAD)
def test_what_breaks_the_rules_gets_its_error(server, inputs, message):
    body = {"outputs": [{"name": "y"}]}
    if inputs:
        body["inputs"] = inputs
    status, found, _ = server.ask("POST", PATH.format("ner"), body)
    assert status == 400 and message in found["error"]


@pytest.fixture
def client(server):
    http = pytest.importorskip(
        "tritonclient.http", reason="needs pip install tritonclient[http]"
    )
    client = http.InferenceServerClient(f"127.0.0.1:{server.port}")
    yield http, client
    client.close()


def test_tritons_client(server, client, exports):
    http, client = client
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("ner") and not client.is_model_ready("no")
    assert client.get_server_metadata()["name"] == "bert"
    assert client.get_model_metadata("ner")["inputs"]
    for kind, number in [("classifier", 0), ("ner", 1), ("features", 0)]:
        signature, columns = REQUESTS[kind][number]
        expected = exports[kind].outputs[number]
        for is_binary in (True, False):
            inputs = []
            for name, texts in columns.items():
                one = http.InferInput(name, [len(texts)], "BYTES")
                array = np.array([text.encode() for text in texts], object)
                one.set_data_from_numpy(array, binary_data=is_binary)
                inputs.append(one)
            found = client.infer(
                kind,
                inputs,
                outputs=None
                if is_binary
                else [
                    http.InferRequestedOutput(name, binary_data=False)
                    for name in expected
                ],
                parameters={"signature_name": signature},
                request_compression_algorithm="gzip",
            )
            for name, value in expected.items():
                array = found.as_numpy(name)
                if array.dtype == object:
                    if is_binary:
                        array = np.vectorize(bytes.decode, [str])(array)
                    assert array.tolist() == value.tolist()
                else:
                    np.testing.assert_allclose(array, value, atol=1e-4)
    ids = []
    for name, rows in IDS.items():
        # As tokenizers of Hugging Face return them.
        array = np.array(rows, np.int64)
        ids.append(http.InferInput(name, array.shape, "INT64"))
        ids[-1].set_data_from_numpy(array)
    _, expected, _ = server.ask(
        "POST", "/v1/models/ner:predict", {"inputs": IDS}
    )
    found = client.infer("ner", ids).as_numpy("probabilities")
    np.testing.assert_allclose(found, expected["outputs"], atol=1e-5)
    with pytest.raises(
        http.InferenceServerException, match="must be from 0 to"
    ):
        ids[0].set_data_from_numpy(np.full([3, 4], 99_999))
        client.infer("ner", ids)
