"""The flags of serve.py, before it loads a model.

serving/http/serve_config.py defines them. test_server_process.py starts the
server.
"""

import sys
import types

import pytest

from serving.engines import EngineOptions
from serving.http import serve_stages
from serving.http.serve_config import LimitOptions, ServeConfig


def test_a_model_has_the_name_of_its_folder_or_another():
    models = serve_stages.parse_models(["runs/topics/", "mood=runs/2"])
    assert models == {"topics": "runs/topics/", "mood": "runs/2"}


def test_the_folder_of_a_model_may_be_in_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    models = serve_stages.parse_models(["x=~/a", "~/b"])
    assert models == {"x": "/home/me/a", "b": "/home/me/b"}


def test_two_models_of_one_name_are_refused():
    with pytest.raises(ValueError, match="--model=b/topics: two models"):
        serve_stages.parse_models(["a/topics", "b/topics"])


def test_a_token_is_read_without_its_line_end(tmp_path):
    path = tmp_path / "token"
    path.write_text("a-long-token\n")
    assert serve_stages.read_token(str(path)) == "a-long-token"


def test_without_a_token_file_there_is_no_token():
    assert serve_stages.read_token(None) == ""


@pytest.mark.parametrize("text", ["", "short", "two words here", "pässwörter"])
def test_a_file_without_a_token_is_refused(tmp_path, text):
    path = tmp_path / "token"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match="/token must contain one word"):
        serve_stages.read_token(str(path))


@pytest.mark.parametrize(
    "origin", ["https://example.com", "http://localhost:8000", "null"]
)
def test_pages_of_an_origin_may_use_a_token(origin):
    serve_stages.check_allowed_origins([origin], token="a-long-token")


@pytest.mark.parametrize(
    "origin", ["example.com", "https://example.com/", "https://a b", ""]
)
def test_a_text_that_is_not_an_origin_is_refused(origin):
    with pytest.raises(ValueError, match=f"--allow_origin={origin} must be"):
        serve_stages.check_allowed_origins([origin], token="")


def test_all_pages_are_allowed_only_without_a_token():
    serve_stages.check_allowed_origins(["*"], token="")
    with pytest.raises(ValueError, match="--token_file"):
        serve_stages.check_allowed_origins(["*"], token="a-long-token")


@pytest.fixture
def serve_with(monkeypatch):
    """Error -> serves nothing, after an import of the server raised it."""
    pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

    def serve(error):
        def raise_error(name):
            raise error

        module = types.ModuleType("server_state")
        module.__getattr__ = raise_error
        name = "serving.http.server_state"
        monkeypatch.setitem(sys.modules, name, module)
        config = ServeConfig(
            engine_options=EngineOptions(), limits=LimitOptions(), model=["a"]
        )
        serve_stages.serve_models(config, {}, token="")

    return serve


def test_a_package_that_is_not_installed_is_named(serve_with):
    error = ModuleNotFoundError("No module", name="uvicorn.config")
    says = r"uvicorn\.config: pip install .*serve"
    with pytest.raises(ValueError, match=says):
        serve_with(error)


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module", name="serving.http.gone"),
        ImportError("cannot import name 'gone'", name="uvicorn"),
    ],
)
def test_a_bug_in_an_import_is_not_hidden(serve_with, error):
    with pytest.raises(type(error)) as caught:
        serve_with(error)
    assert caught.value is error
