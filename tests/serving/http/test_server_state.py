"""What the server answers by its state: whether it is ready, and its models."""

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from serving.http.errors import HttpError
from serving.http.serve_config import LimitFlags
from serving.http.server_state import ServerState
from tests.support.serving.echo_models import EchoEngine, EchoExport


@pytest.fixture
def state():
    """The state of a server with the model "m", which is not ready."""
    return ServerState(
        exports={"m": EchoExport(engine=EchoEngine())},
        limits=LimitFlags(),
        has_token=False,
    )


def test_clients_are_told_to_wait_while_models_are_loading(state):
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
        state.find_model("m")
    state.load_models()
    assert state.find_model("m") is state.models["m"]


def test_an_export_is_found_by_its_name_before_it_is_loaded(state):
    assert state.find_export("m") is state.exports["m"]


def test_another_name_is_refused_with_the_names_to_choose_from(state):
    state.load_models()
    for find in (state.find_export, state.find_model):
        with pytest.raises(
            HttpError, match="no model 'n'; choose from m"
        ) as caught:
            find("n")
        assert caught.value.status == 404
