"""serve.py on LiteRT and ONNX exports, without importing TensorFlow."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request

import pytest

pytest.importorskip("starlette", reason="needs requirements/serve.txt")

from tests.golden import ROOT
from tests.serving.conftest import REQUESTS
from tests.serving.server.test_server import IDS, check_alike
from tests.serving.test_engines import BLOCK, ENGINES


@pytest.fixture(scope="module", params=ENGINES[:2])
def asked(tmp_path_factory, folders, request):
    """The kinds that are served, and (path, body or None) -> parsed answer.

    LiteRT has all kinds. ONNX has two, since the server's part is the same.
    """
    kinds = ["classifier", "ner"] if request.param == "onnx" else [*folders]
    folder = tmp_path_factory.mktemp("litert_server")
    # Python imports it at the start of every process.
    (folder / "sitecustomize.py").write_text(BLOCK)
    modules = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    log = folder / "log"
    with log.open("wb") as stderr:
        server = subprocess.Popen(
            [
                *(sys.executable, ROOT / "serve.py", "--port=0"),
                *(f"--engine={request.param}", "--num_threads=1"),
                *(f"--model={kind}={folders[kind]}" for kind in kinds),
            ],
            env=os.environ | {"PYTHONPATH": modules},
            stderr=stderr,
            cwd=folder,
        )
    try:
        while not (found := re.search(r"ready: (http://\S+)", log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)

        def ask(path, body=None):
            data = None if body is None else json.dumps(body).encode()
            with urllib.request.urlopen(found[1] + path, data) as reply:
                return json.load(reply)

        yield kinds, ask
    finally:
        server.terminate()
        server.wait(60)
    assert server.returncode == 0, log.read_text()
    assert "Traceback" not in log.read_text()
    assert f"serving version 1 with {request.param}" in log.read_text()


def metadata(signatures):
    """Returns what clients read of signatures; tensors have other names."""
    for signature in signatures.values():
        for each in ("inputs", "outputs"):
            for tensor in signature[each].values():
                del tensor["name"]
    return signatures


def test_signatures_are_those_of_the_saved_model(asked, exports, server):
    kinds, ask = asked
    for kind in kinds:
        check_signatures(kind, ask, exports, server)


def test_a_saved_model_answers_as_its_graph(exports, server):
    """Its texts are encoded and decoded in Python, as those of the others."""

    def ask(path, body=None):
        return server.ask("POST" if body else "GET", path, body)[1]

    for kind in REQUESTS:
        if kind != "multiple_choice":
            check_signatures(kind, ask, exports, server)


def check_signatures(kind, ask, exports, server):
    path = f"/v1/models/{kind}"
    for (signature, columns), outputs in zip(
        REQUESTS[kind], exports[kind].outputs, strict=True
    ):
        body = {"signature_name": signature, "inputs": columns}
        found = ask(f"{path}:predict", body)["outputs"]
        expected = {key: value.tolist() for key, value in outputs.items()}
        if not any(columns.values()):
            expected = dict.fromkeys(expected, [])
        check_alike(
            found, expected if len(expected) > 1 else [*expected.values()][0]
        )
    _, expected, _ = server.ask("POST", f"{path}:predict", {"inputs": IDS})
    # The network sees all rows in one batch there.
    check_alike(ask(f"{path}:predict", {"inputs": IDS}), expected)
    _, expected, _ = server.ask("GET", f"{path}/metadata")
    found = ask(f"{path}/metadata")["metadata"]["signature_def"]
    expected = expected["metadata"]["signature_def"]
    assert metadata(found["signature_def"]) == metadata(
        expected["signature_def"]
    )


def test_the_page_is_told_the_engine(asked, server):
    _, ask = asked
    models = {one["name"]: one for one in ask("/api/models")["models"]}
    assert models["ner"]["tasks"] == ["tag", "tokenize"]
    assert models["ner"]["engine"] in ("litert", "onnx")
    _, found, _ = server.ask("GET", "/api/models")
    engines = {one["engine"] for one in found["models"]}
    assert len(engines) == 1 and models["ner"]["engine"] not in engines
    text = {"text": "The harbor light is on."}
    _, expected, _ = server.ask("POST", "/api/models/ner/tag", text)
    check_alike(ask("/api/models/ner/tag", text), expected)
