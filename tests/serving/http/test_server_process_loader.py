"""What is logged when the models are loaded, and what ends the server."""

import logging

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.app import ServerApp
from serving.http.server_process import ModelLoader
from serving.http.timed_server import TimedServer
from tests.support.serving.echo_models import EchoEngine, EchoExport

URL = "http://127.0.0.1:1"


class DamagedExport(EchoExport):
    """An export that cannot be read."""

    def load_worker(self):
        raise OSError("model.json is damaged")


def run_loader(export, token=""):
    """Returns the loader of an export and its server, after it ran."""
    app = ServerApp.create({"m": export}, token)
    server = TimedServer(app)
    loader = ModelLoader(app.state, server, URL)
    loader.run()
    return loader, server


def test_the_log_shows_a_request_that_can_be_copied(caplog):
    caplog.set_level(logging.INFO)
    loader, _ = run_loader(EchoExport(engine=EchoEngine()))
    assert loader.error is None
    command = f"""curl -d '{{"text": "A text."}}' {URL}/api/models/m/task"""
    assert command in caplog.text


def test_the_request_has_the_header_of_a_token(caplog):
    caplog.set_level(logging.INFO)
    run_loader(EchoExport(engine=EchoEngine()), token="a-long-token")
    assert "curl -H 'Authorization: Bearer TOKEN' -d" in caplog.text
    assert "a-long-token" not in caplog.text


def test_a_model_that_cannot_be_loaded_stops_the_server():
    loader, server = run_loader(DamagedExport(engine=EchoEngine()))
    assert "model.json is damaged" in str(loader.error)
    assert server.should_exit
