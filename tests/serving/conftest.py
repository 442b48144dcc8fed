"""Exports of every kind, asked in a process that has TensorFlow alone."""

import asyncio
import functools
import json
import types

import numpy as np
import pytest

import serving
from serving.engines import EngineOptions
from tests.support import fresh_process
from tests.support.serving import asgi
from tests.support.serving.exports import (
    CASED_TOKENIZER,
    FORMAT,
    REQUESTS,
    TOKENIZER,
    create_options,
    export_model,
)

_ASK = """
import json, sys
import numpy as np
import tensorflow as tf

arrays = {}
for name, (path, requests) in json.load(open(sys.argv[1])).items():
    signatures = tf.saved_model.load(path).signatures
    assert "serving_default" in signatures
    for number, (signature, inputs) in enumerate(requests):
        texts = {
            field: tf.constant(values, tf.string)
            for field, values in inputs.items()
        }
        for key, value in signatures[signature](**texts).items():
            value = value.numpy()
            if value.dtype == object:
                value = np.array(
                    [text.decode() for text in value.flat], np.str_
                ).reshape(value.shape)
            arrays[f"{name}/{number}/{key}"] = value
ours = {"modeling", "data", "training", "serving", "tensorflow_text"}
assert not ours & set(sys.modules)
np.savez(sys.argv[2], **arrays)
"""


def _ask_in_process(folder):
    """Returns {NAME/NUMBER/OUTPUT: array} of the requests to each SavedModel.

    A process that has TensorFlow alone asks the models.
    """
    requests, results = folder / "requests.json", folder / "results.npz"
    asked = {
        name: (str(folder / name), requests_of_name)
        for name, requests_of_name in REQUESTS.items()
    }
    requests.write_text(json.dumps(asked))
    # With -I, Python finds no module of the project.
    fresh_process.run("-I", "-c", _ASK, requests, results, cwd=folder).check()
    return np.load(results)


@pytest.fixture(scope="session")
def exports(tmp_path_factory):
    """{name: an export, its model, and what a process made of requests}.

    `outputs[i]` are the outputs of the i-th request, arrays by name.
    """
    folder = tmp_path_factory.mktemp("exports")
    options = create_options(predict_batch_size=4)
    exports = {
        name: types.SimpleNamespace(
            path=folder / name,
            model=export_model(name, folder / name, options),
            tokenizer=CASED_TOKENIZER if name == "squad" else TOKENIZER,
            requests=requests,
            outputs=[{} for _ in requests],
        )
        for name, requests in REQUESTS.items()
    }
    for key, value in _ask_in_process(folder).items():
        name, number, output = key.split("/")
        exports[name].outputs[int(number)][output] = value
    return exports


@pytest.fixture(scope="session")
def saved_models_folder(exports):
    """The folder of the SavedModels of `exports`, each in one of its name."""
    return exports["squad"].path.parent


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
    from serving.http.served_models import ExportToServe, ServedModel

    exports = {
        name: ExportToServe(str(saved_models_folder / name), EngineOptions())
        for name, requests in REQUESTS.items()
        if requests
    }
    app = ServerApp.create(exports)
    for name in exports:
        app.state.models[name] = ServedModel(load_text_model(name))

    def ask_server(method, path, body=None):
        text = body if isinstance(body, str) else json.dumps(body)
        response = asyncio.run(asgi.ask(app, method, path, text.encode()))
        return response.status, json.loads(response.body)

    return ask_server
