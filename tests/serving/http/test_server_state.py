"""The exports of serve.py, and what it replies until they are loaded."""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.engines import EngineOptions
from serving.http.errors import HttpError
from serving.http.serve_config import LimitOptions
from serving.http.server_state import ExportToServe, ServerState
from tests.support.serving.echo_models import EchoEngine, EchoExport


@pytest.fixture
def state():
    """The state of a server with the model "m", which is not ready."""
    return ServerState(
        exports={"m": EchoExport(engine=EchoEngine())},
        limits=LimitOptions(),
        has_token=False,
    )


def test_check_ready_refuses_a_request_while_models_are_loading(state):
    with pytest.raises(HttpError, match="still loading") as caught:
        state.check_ready()
    assert caught.value.status == 503
    assert caught.value.headers == {"Retry-After": "1"}


def test_a_server_whose_models_are_loaded_is_ready(state):
    state.load_models()
    assert state.is_ready
    state.check_ready()


def test_a_model_is_found_by_its_name_once_it_is_loaded(state):
    with pytest.raises(HttpError, match="still loading"):
        state.find_worker("m")
    state.load_models()
    assert state.find_worker("m") is state.workers["m"]


def test_an_export_is_found_by_its_name_before_it_is_loaded(state):
    assert state.find_export("m") is state.exports["m"]


def test_another_name_is_refused_with_the_names_to_choose_from(state):
    state.load_models()
    for find in (state.find_export, state.find_worker):
        with pytest.raises(
            HttpError, match="no model 'n'; choose from m"
        ) as caught:
            find("n")
        assert caught.value.status == 404


@pytest.mark.parametrize(
    ("folder", "version"), [("models/7", "7"), ("models/7/", "7"), ("ner", "1")]
)
def test_the_version_is_the_number_of_the_folder(folder, version):
    assert ExportToServe(folder, EngineOptions()).version == version


def test_a_loaded_export_computes_the_text_tasks_of_its_model(export_folders):
    export = ExportToServe(
        str(export_folders["classifier"]), EngineOptions(engine="litert")
    )
    worker = export.load_worker()
    assert worker.text_model.text_task().name == "classify"
    assert worker.text_model.engine.name == "litert"


def test_a_model_that_accepts_no_text_is_refused(saved_models_folder):
    export = ExportToServe(
        str(saved_models_folder / "multiple_choice"), EngineOptions()
    )
    with pytest.raises(ValueError, match="multiple_choice accepts no text"):
        export.load_worker()
