"""serve.py as a process: asked by many clients, good and hostile ones."""

import collections
import contextlib
import functools
import gzip
import http.client
import json
import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.checkpoints import assert_same
from tests.serving.conftest import REQUESTS, TEXTS
from tests.serving.server.server_process import running, send

check_alike = functools.partial(assert_same, atol=1e-4, rtol=1e-6)
IDS = {
    "input_ids": [[1, 5, 7, 2], [1, 9, 2, 0], [1, 2, 0, 0]],
    "input_mask": [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]],
    "segment_ids": [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
}


def columns_of(kind, specs):
    """Returns a request of a signature, in column form."""
    if kind == "multiple_choice":
        return {name: [rows, rows] for name, rows in IDS.items()}
    if "input_ids" in specs:
        return IDS
    texts = ["[MASK] " + text for text in TEXTS]
    return {
        name: texts[number:] + texts[:number]
        for number, name in enumerate(specs)
    }


@pytest.mark.slow
def test_every_signature_answers_as_the_graph(
    server, load, export_folder, tmp_path
):
    kind = "multiple_choice"
    with running(tmp_path, {kind: export_folder / kind}) as more:
        num_signatures = check_signatures(more, load, [kind])
    num_signatures += check_signatures(server, load, {*REQUESTS} - {kind})
    # serving_default too, which is `serve` over ids; `tokenize` of all that
    # take text; and the signatures of the tasks: two of squad, classifier, ner
    # and pretraining, one of features.
    assert num_signatures == 6 * 2 + 5 + 4 * 2 + 1


def check_signatures(server, load, kinds):
    """Asks every signature of some models, and returns their number."""
    num_signatures = 0
    for kind in kinds:
        engine = load(kind).engine
        for signature, function in engine.signatures.items():
            columns = columns_of(kind, function.structured_input_signature[1])
            expected = {}
            for name, value in engine.run_signature(signature, columns).items():
                if value.dtype == object:
                    value = np.vectorize(bytes.decode, [object])(value)
                expected[name] = value.tolist()
            if len(expected) == 1:
                (expected,) = expected.values()
            body = {"signature_name": signature, "inputs": columns}
            path = f"/v1/models/{kind}:predict"
            status, found, _ = server.ask("POST", path, body)
            assert status == 200, found
            check_alike(found["outputs"], expected)
            num_signatures += 1
    return num_signatures


def test_many_clients_get_the_answers_of_one(server):
    """Whatever else is in a batch, a request's answer has its own shape."""

    def ask(request):
        status, found, _ = server.ask("POST", *request)
        assert status == 200, found
        return found["predictions"]

    texts = [text for text in TEXTS if text.strip()]
    requests = [
        (
            f"/v1/models/{kind}:predict",
            {"signature_name": signature, "instances": [text]},
        )
        for kind, signature in [
            ("ner", "tag"),
            ("features", "embed"),
            ("classifier", "classify_text"),
        ]
        for text in texts
    ]
    alone = [ask(request) for request in requests]
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(ask, requests * 3))
    for found, expected in zip(together, alone * 3, strict=True):
        check_alike(found, expected)
    metrics = read_metrics(server)
    rows = metrics["bert_batch_rows_sum", "ner"]
    assert rows >= 4 * len(texts)
    # Some did go together.
    assert metrics["bert_batch_rows_count", "ner"] < rows
    assert metrics["bert_requests_total", "ner"] >= len(texts)
    assert metrics["bert_request_seconds_count", "ner"] >= len(texts)
    assert metrics["bert_model_version", "ner"] == 1
    assert metrics["bert_waiting_requests", "ner"] == 0


def read_metrics(server):
    """Returns {(sample, model): value}, as Prometheus's own parser reads."""
    from prometheus_client import parser

    _, text, headers = server.ask("GET", "/metrics")
    assert headers["Content-Type"].startswith("text/plain; version=")
    found = collections.Counter()
    for family in parser.text_string_to_metric_families(text):
        assert family.documentation and family.type != "unknown"
        for sample in family.samples:
            found[sample.name, sample.labels.get("model")] += sample.value
    return found


# (model, ids, mask and segment ids of a row, name of the wrong input, its
# highest value, what was received)
OUT_OF_RANGE = [
    ("classifier", [99999], [1], [0], "input_ids", 1599, "99999 to 99999"),
    # The last row, as Python counts.
    ("squad", [4, -1], [1, 1], [0, 0], "input_ids", 1599, "-1 to 4"),
    ("features", [4], [1], [16], "segment_ids", 15, "16 to 16"),
    ("ner", [4], [2], [0], "input_mask", 1, "2 to 2"),
]
# (path after /api/models, body, status, part of the answer)
OF_THE_PAGE = [
    ("/none/tag", '{"text": "a"}', 404, "Servable not found"),
    ("/ner/embed", '{"text": "a"}', 404, "no such task. Choose from tag"),
    ("/ner/tag", '{"txt": "a"}', 400, "'text' is missing; the fields of tag"),
    # Of what the task does not read nothing is checked.
    (
        "/ner/tag",
        '{"text": "a", "more": ["\\ud800", 1]}',
        200,
        '"words": ["a"]',
    ),
    # Many words are one text: counted in one call, not in one for each.
    (
        "/ner/tag",
        json.dumps({"words": ["a"] * 200_000}),
        413,
        "200000 WordPieces are more than 32768",
    ),
]
TABLE = [
    *(
        (
            *("POST", f"/v1/models/{model}:predict"),
            {"instances": [dict(zip(IDS, row, strict=True))]},
            *(400, f"{name} must be from 0 to {most}. Received: {received}"),
        )
        for model, *row, name, most, received in OUT_OF_RANGE
    ),
    *(("POST", f"/api/models{path}", *rest) for path, *rest in OF_THE_PAGE),
    ("DELETE", "/v1/models/squad", None, 400, "Malformed request: DELETE"),
    ("GET", "/healthz", None, 200, "alive"),
    ("GET", "/readyz", None, 200, "ready"),
    ("GET", "/page/../app.py", None, 404, ""),
    ("GET", "/page/%2e%2e%2fapp.py", None, 404, ""),
    ("GET", "/page//etc/passwd", None, 404, ""),
]


@pytest.mark.parametrize("method, path, body, status, part", TABLE)
def test_each_request_has_its_answer(server, method, path, body, status, part):
    found, answer, _ = server.ask(method, path, body)
    assert found == status, answer
    assert part in (answer if isinstance(answer, str) else json.dumps(answer))


HEAD = b"POST /v1/models/ner:predict HTTP/1.1\r\nHost: a\r\n"
GOOD = {"signature_name": "tag", "instances": ["The harbor light is on."]}


def test_hostile_requests_cost_no_other_its_answer(server):
    """BERT_SOAK_REQUESTS makes a soak of it, and looks at the memory too."""
    num_requests = int(os.environ.get("BERT_SOAK_REQUESTS", "104"))
    hostile = [
        b"\0\xff\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        HEAD + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 99999999999999\r\n\r\n{}",
        HEAD + b"Content-Encoding: br\r\nContent-Length: 1\r\n\r\n{",
        HEAD + b"Content-Length: 2000000\r\n\r\n" + b" " * 2_000_000,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
        HEAD
        + b"Transfer-Encoding: chunked\r\n\r\n"
        + (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 21
        + b"0\r\n\r\n",
        HEAD + b"Content-Length: 10\r\n\r\n{",
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n{",
        HEAD + b"Content-Length: 50000\r\n\r\n" + b"[" * 50_000,
        b"",
    ]

    def ask(number):
        if number % 2:
            send(server, hostile[number // 2 % len(hostile)])
            return None
        return server.ask("POST", "/v1/models/ner:predict", GOOD)[:2]

    memory = []
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            numbers = range(num_requests // 2)
            answers = [found for found in pool.map(ask, numbers) if found]
            assert len(answers) == len(numbers) // 2
            for status, answer in answers:
                num_words = answer["predictions"][0]["num_words"]
                assert (status, num_words) == (200, 6)
            if num_requests > 10_000:
                memory.append(server.script.memory())
    assert not memory or memory[1] < 1.05 * memory[0]
    assert b"413" in send(server, hostile[5]).split(b"\r\n")[0]
    assert b"415" in send(server, hostile[6]).split(b"\r\n")[0]
    assert b"413" in send(server, hostile[9]).split(b"\r\n")[0]
    assert b"400" in send(server, hostile[11]).split(b"\r\n")[0]
    assert server.ask("GET", "/readyz")[0] == 200
    assert "Traceback" not in server.script.stderr()


def test_gzip_is_inflated_within_the_limit(server):
    def ask(data, **headers):
        path = "/v1/models/ner:predict"
        headers = {"Content-Encoding": "gzip"} | headers
        return server.ask("POST", path, data, headers)[:2]

    data = json.dumps(GOOD).encode()
    status, found = ask(gzip.compress(data))
    assert status == 200 and found["predictions"][0]["num_words"] == 6
    # 10 MB in 10 kB; then a body that is too large before it is inflated.
    for body in (
        gzip.compress(b" " * 10**7),
        random.Random(1).randbytes(2**21),
    ):
        status, found = ask(body)
        assert status == 413 and "--max_body_bytes" in found["error"]
    # Several members are one body.
    assert ask(gzip.compress(data[:9]) + gzip.compress(data[9:]))[0] == 200
    for body in (data, gzip.compress(data)[:-9], gzip.compress(data) + b"x"):
        status, found = ask(body)
        assert status == 400 and "gzip" in found["error"]
    assert ask(b"")[0] == 400


def test_a_client_that_sends_too_much_sees_why(server):
    body = b" " * 50_000_000
    status, found, headers = server.ask("POST", "/v1/models/ner:predict", body)
    assert status == 413 and "--max_body_bytes" in found["error"]
    assert headers["Connection"] == "close"


def test_a_body_of_two_lengths_is_the_last_of_its_connection(server):
    """Another server before this one may read the second request's head."""
    data = json.dumps(GOOD).encode()
    answer = send(
        server,
        HEAD
        + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
        + b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
        shut=False,
    )
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()


def test_no_client_with_pauses_loses_a_request(tmp_path, folders):
    """Neither while it asks nor when the server is told to stop.

    BERT_SOAK_SECONDS makes a soak of it.
    """
    seconds = float(os.environ.get("BERT_SOAK_SECONDS", "2"))
    with running(tmp_path, {"ner": folders["ner"]}, timeout_s=1) as server:

        def keep_asking(number):
            client = http.client.HTTPConnection("127.0.0.1", server.port)
            pauses, count = random.Random(number), 0
            with contextlib.closing(client):
                while True:
                    client.request(
                        "POST", "/v1/models/ner:predict", json.dumps(GOOD)
                    )
                    response = client.getresponse()
                    found = json.load(response)
                    assert response.status == 200, found
                    count += 1
                    if response.headers["Connection"] == "close":
                        return count
                    time.sleep(pauses.uniform(0, 0.3))

        with ThreadPoolExecutor(8) as pool:
            clients = [pool.submit(keep_asking, each) for each in range(8)]
            time.sleep(seconds)
            lost = [one.exception() for one in clients if one.done()]
            server.script.send(signal.SIGTERM)
            counts = [client.result(60) for client in clients]
        assert not lost
        assert min(counts) > seconds
        assert server.stop() == 0, server.script.stderr()
