"""What a client, the log and Python are told if a model fails by itself."""

import asyncio

import keras
import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

import exporting
import serving
from serving.engines import EngineError, EngineOptions
from serving.http.app import ServerApp
from serving.http.model_worker import ModelWorker
from serving.http.server_state import ExportToServe
from tests.support.serving import asgi, exports

PATH = "/api/models/m/classify"


def export_classifier(folder, **options):
    exports.export_model(
        "classifier", folder, exports.create_options(**options)
    )
    return serving.load(folder)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A classifier in a runtime that checks ids."""
    return export_classifier(tmp_path_factory.mktemp("failures") / "model")


@pytest.fixture
def post(caplog):
    """(model, texts) -> (status, error) of the server, and clears the log."""

    def send_texts(model, texts):
        async def main():
            export = ExportToServe(model.path, EngineOptions())
            server = ServerApp.create({"m": export})
            server.state.workers["m"] = ModelWorker(model)
            caplog.clear()
            return await asgi.post(server, PATH, {"text": texts})

        status, reply = asyncio.run(main())
        return status, reply["error"]

    return send_texts


def break_ids(classifier, monkeypatch, to_ids):
    """Makes ids that the network does not know, of texts with a "boat"."""
    convert = classifier.tokenizer.convert_tokens_to_ids

    def convert_wrongly(tokens):
        return to_ids(tokens) if "boat" in tokens else convert(tokens)

    monkeypatch.setattr(
        classifier.tokenizer, "convert_tokens_to_ids", convert_wrongly
    )


@pytest.mark.parametrize("texts", ["A boat.", ["A light.", "A boat."]])
def test_an_error_of_the_runtime_gets_status_500(
    texts, classifier, post, monkeypatch, caplog
):
    break_ids(classifier, monkeypatch, lambda tokens: [1 << 20] * len(tokens))
    status, error = post(classifier, texts)
    assert status == 500
    assert "internal error" in error
    assert "input_ids" in caplog.text
    # As in files, an error of one text.
    with pytest.raises(ValueError, match="input_ids"):
        classifier.classify(texts)


def test_weights_of_nan_are_an_error_of_the_server(tmp_path, post, caplog):
    model = exports.create_model(*exports.HEADS["classifier"][:1], 3)
    weight = model.trainable_weights[-1]
    weight.assign(keras.ops.full_like(weight, float("nan")))
    options = exports.create_options("litert")
    settings = {"labels": exports.LABELS}
    exporting.export(tmp_path / "model", model, settings, options)
    loaded = serving.load(tmp_path / "model")
    status, error = post(loaded, "A boat.")
    assert status == 500
    assert "internal error" in error
    assert "nan" in caplog.text
    with pytest.raises(EngineError, match="nan"):
        loaded.classify("A boat.")


def test_a_type_error_of_the_code_is_logged(
    classifier, post, monkeypatch, caplog
):
    break_ids(classifier, monkeypatch, lambda tokens: len(None))
    status, error = post(classifier, "A boat.")
    assert status == 500
    assert "internal error" in error
    assert "TypeError" in caplog.text
    with pytest.raises(TypeError, match="NoneType"):
        classifier.classify("A boat.")


def test_a_wrong_request_is_not_logged(classifier, post, caplog):
    status, error = post(classifier, [1])
    assert status == 400
    assert "'text' must be a string" in error
    assert not caplog.records
