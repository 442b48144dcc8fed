"""Exports in other formats, and loaded models, for the tests of serving/."""

import asyncio
import functools
import json

import pytest

import serving
from serving.engines import EngineOptions
from tests.support.serving import asgi
from tests.support.serving.exports import (
    FORMAT,
    REQUESTS,
    create_options,
    export_model,
)


@pytest.fixture(scope="session")
def export_folders(tmp_path_factory):
    """{kind: folder of an export in each other format that is installed}.

    The weights are those of `exports`.
    """
    folder = tmp_path_factory.mktemp("export_folders")
    kinds = [kind for kind, requests in REQUESTS.items() if requests]
    for kind in kinds:
        export_model(kind, folder / kind, create_options(FORMAT))
    return {kind: folder / kind for kind in kinds}


@pytest.fixture(scope="session")
def load_text_model(saved_models_folder):
    """(name) -> the TextModel of that SavedModel, loaded once."""
    return functools.cache(
        lambda name: serving.load(saved_models_folder / name)
    )


@pytest.fixture(scope="session")
def ask_server(load_text_model, saved_models_folder):
    """(method, path, body) -> (status, parsed reply) of the server's models.

    They are of every kind that accepts texts. There is no process and no
    connection: the fixture calls the server as an ASGI application. A body that
    is text is sent as it is, any other as JSON.
    """
    pytest.importorskip("fastapi", reason="needs requirements/serve.txt")
    # These import FastAPI.
    from serving.http.app import ServerApp
    from serving.http.model_worker import ModelWorker
    from serving.http.server_state import ExportToServe

    exports = {
        name: ExportToServe(str(saved_models_folder / name), EngineOptions())
        for name, requests in REQUESTS.items()
        if requests
    }
    app = ServerApp.create(exports)
    for name in exports:
        app.state.workers[name] = ModelWorker(load_text_model(name))

    def send(method, path, body=None):
        text = body if isinstance(body, str) else json.dumps(body)
        response = asyncio.run(asgi.ask(app, method, path, text.encode()))
        return response.status, json.loads(response.body)

    return send
