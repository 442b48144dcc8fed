"""What web developers expect of serve.py: methods, paths, origins, snippets.

serving/http/routes.py lists the paths, and answers the requests to others.
serving/http/handlers.py answers the requests to the paths.
"""

import shutil
import socket
import subprocess
import sys

import pytest

from tests.support import script_runner
from tests.support.log_lines import printed_messages
from tests.support.paths import ROOT
from tests.support.serving.server_process import ask, running_server
from tests.support.source_files import blocks
from tests.support.waiting import TIMEOUT, killed_late

ORIGINS = ["https://example.com", "http://localhost:3000"]
PREDICT = "/v1/models/topics:predict"
CLASSIFY = "/api/models/topics/classify"
TEXT = {"text": "The harbor light is on."}
ADDRESS = "http://localhost:8501"


@pytest.fixture(scope="module")
def server(tmp_path_factory, export_folders):
    """Has version 7 of the model of docs/server.md, for two web sites."""
    folder = tmp_path_factory.mktemp("web")
    shutil.copytree(export_folders["classifier"], folder / "7")
    allowed = [f"--allow_origin={origin}" for origin in ORIGINS]
    with running_server(folder, {"topics": folder}, *allowed) as process:
        yield process


def ask_with(server, method, path, body=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    with server.connect() as connection:
        return ask(connection, method, path, body, headers)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/index.html",
        "/page.js",
        "/healthz",
        "/api/models",
        "/v1/models/topics",
        "/openapi.json",
    ],
)
def test_head_is_get_without_a_body(server, path):
    status, text, headers = ask_with(server, "GET", path)
    assert status == 200
    assert text
    status, text, others = ask_with(server, "HEAD", path)
    assert status == 200
    assert text == ""
    assert others["Content-Length"] == headers["Content-Length"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "OPTIONS", "DELETE"])
@pytest.mark.parametrize(
    "path",
    [
        "/none",
        "/healthz/",
        "/api/model",
        "/api/models/topics",
        "/api/models/topics/classify/",
        "/v1/models/topics/versions/1",
        "/v1/models",
        "/predict",
    ],
)
def test_unknown_paths_list_the_paths(server, method, path):
    status, reply = server.ask(method, path, TEXT)
    assert status == 404
    assert "POST /api/models/NAME/TASK, GET /v1/models/" in reply["error"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/healthz", "GET, HEAD"),
        ("PUT", "/", "GET, HEAD"),
        ("DELETE", "/v1/models/topics", "GET, HEAD"),
        ("GET", CLASSIFY, "POST"),
        ("HEAD", CLASSIFY, "POST"),
        ("PUT", CLASSIFY, "POST"),
        ("GET", PREDICT, "POST"),
        ("PUT", PREDICT, "POST"),
    ],
)
def test_other_methods_name_the_right_ones(server, method, path, allowed):
    status, reply, headers = ask_with(server, method, path)
    assert status == 405
    assert headers["Allow"] == allowed
    if method != "HEAD":
        assert reply == {"error": f"use {allowed}"}


def test_a_status_is_as_in_tensorflow_serving(server):
    status = {"error_code": "OK", "error_message": ""}
    version = {"version": "7", "state": "AVAILABLE", "status": status}
    assert server.ask("GET", "/v1/models/topics") == (
        200,
        {"model_version_status": [version]},
    )
    status, reply = server.ask("GET", "/v1/models/none")
    assert status == 404
    assert "choose from topics" in reply["error"]


@pytest.mark.parametrize("name", [None, "serving_default", "classify"])
def test_the_main_signature_may_be_named(server, name):
    body = {"instances": ["A boat."]}
    status, expected = server.ask("POST", PREDICT, body)
    assert status == 200
    named = {"signature_name": name} if name else {}
    assert server.ask("POST", PREDICT, named | body) == (200, expected)


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"signature_name": "ids", "instances": ["a"]}, "'ids' is not served"),
        ({"signature_name": "tokenize", "instances": []}, "or serving_default"),
        ({"signature_name": 3, "instances": ["a"]}, "3 is not served"),
        ({"signature_name": "classify"}, "instances"),
        ({"inputs": {"text": ["a"]}}, "instances"),
    ],
)
def test_other_signatures_are_named(server, body, part):
    status, reply = server.ask("POST", PREDICT, body)
    assert status == 400
    assert part in reply["error"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_preflight_of_a_named_origin_is_accepted(server, origin):
    asked = {
        "Origin": origin,
        "Access_Control_Request_Method": "POST",
        "Access_Control_Request_Headers": "authorization,content-type",
    }
    status, _, headers = ask_with(server, "OPTIONS", CLASSIFY, **asked)
    assert status == 200
    assert headers["Access-Control-Allow-Origin"] == origin


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [(CLASSIFY, TEXT, 200), (CLASSIFY, {}, 400), ("/none", TEXT, 404)],
)
def test_a_named_origin_may_read_every_reply(
    server, origin, path, body, expected
):
    status, _, headers = ask_with(server, "POST", path, body, Origin=origin)
    assert status == expected
    assert headers["Access-Control-Allow-Origin"] == origin


@pytest.mark.parametrize(
    "origin", ["https://example.org", "http://example.com", "null"]
)
def test_other_origins_may_not_read_a_reply(server, origin):
    _, _, headers = ask_with(server, "GET", "/healthz", Origin=origin)
    assert "Access-Control-Allow-Origin" not in headers


def test_other_origins_may_not_read_what_a_post_returns(server):
    """A page sends this without a preflight."""
    sent = {"Origin": "https://example.org", "Content_Type": "text/plain"}
    status, reply, headers = ask_with(server, "POST", CLASSIFY, TEXT, **sent)
    assert status == 200
    assert "label" in reply
    assert "Access-Control-Allow-Origin" not in headers


def test_a_long_body_is_refused_whatever_is_in_it(server):
    body = {"text": "a" * 300_000}
    status, reply = server.ask("POST", CLASSIFY, body)
    assert status == 413
    assert reply["error"].endswith("send less text per request")


@pytest.mark.parametrize(
    ("flags", "part"),
    [
        ({"allow_origin": "*", "token_file": "token"}, "--allow_origin=*"),
        ({"allow_origin": "https://a.b/"}, "without a path"),
        ({"allow_origin": "a.b"}, "SCHEME://HOST"),
    ],
)
def test_wrong_origins_are_an_error_before_models_load(
    tmp_path, export_folders, flags, part
):
    (tmp_path / "token").write_text("a-secret-word")
    flags = {"model": export_folders["classifier"], "port": 0} | flags
    done = script_runner.run("serve.py", tmp_path, **flags)
    assert part in done.error
    # The server logs that it loads models.
    assert not printed_messages(done)


LOG_RETRIES = """
import logging
logging.basicConfig(level="DEBUG")
"""


def python_lines(port):
    """Returns the lines of the page that ask from Python."""
    page = (ROOT / "docs/server.md").read_text("utf-8")
    snippets = blocks(page, "py")
    code = next(code for code in snippets if "import requests" in code)
    assert ADDRESS in code
    return code.replace(ADDRESS, f"http://localhost:{port}")


def test_the_python_code_of_the_page_gets_a_reply(server):
    pytest.importorskip("requests")
    done = subprocess.run(
        [sys.executable, "-c", python_lines(server.port)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("no", "maybe", "yes")


@pytest.mark.slow
def test_the_python_code_of_the_page_waits_for_a_server_that_restarts(
    tmp_path, export_folders
):
    pytest.importorskip("requests")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        subprocess.Popen(
            [sys.executable, "-c", LOG_RETRIES + python_lines(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as client,
        killed_late(client),
    ):
        # Four tries find no server that listens.
        assert any("Retry(total=6" in line for line in client.stderr)
        models = {"topics": export_folders["classifier"]}
        with running_server(tmp_path, models, port=port):
            output, error = client.communicate(timeout=TIMEOUT)
    assert client.returncode == 0, error
    assert output.strip() in ("no", "maybe", "yes")


def test_the_curl_command_of_the_page_gets_a_reply(server, tmp_path):
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    page = (ROOT / "docs/server.md").read_text("utf-8")
    snippets = blocks(page, "bash")
    code = next(code for code in snippets if code.startswith("curl -s "))
    code = code.replace(ADDRESS, f"http://localhost:{server.port}")
    done = subprocess.run(
        code, shell=True, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stderr
    assert '"label": "' in done.stdout
