"""What requests that no handler answers are told."""

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from fastapi import Request
from starlette.exceptions import HTTPException

from serving.http.errors import HttpError
from serving.http.routes import ErrorHandlers
from serving.text_tasks.request_fields import RequestError
from tests.support.serving import asgi


@pytest.fixture
def error_handlers():
    """Of a server of the model "m", with two paths."""
    return ErrorHandlers(["m"], ["GET /", "GET /v1/models/NAME"])


def create_request(**path_params):
    """Returns a request whose path has these parts."""
    scope = asgi.create_scope("GET", "/")
    return Request({**scope, "path_params": path_params})


def error_of(response):
    """Returns the message of a reply that is an error."""
    return json.loads(response.body)["error"]


def test_a_failed_request_gets_the_error_of_its_handler(error_handlers):
    error = HttpError(503, "loading", {"Retry-After": "1"})
    response = asyncio.run(
        error_handlers.reply_to_failed_request(create_request(), error)
    )
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "1"
    assert error_of(response) == "loading"


def test_a_wrong_request_gets_status_400(error_handlers):
    error = RequestError("the body must be an object")
    response = asyncio.run(
        error_handlers.reply_to_failed_request(create_request(), error)
    )
    assert response.status_code == 400
    assert error_of(response) == "the body must be an object"


def test_the_error_about_an_unknown_path_lists_all_paths(error_handlers):
    response = asyncio.run(
        error_handlers.reply_to_unknown_path(
            create_request(), HTTPException(404)
        )
    )
    assert response.status_code == 404
    assert "GET /, GET /v1/models/NAME" in error_of(response)


@pytest.mark.parametrize(
    ("path_params", "allowed"),
    [
        ({}, "GET, HEAD"),
        ({"name": "m"}, "GET, HEAD"),
        ({"name": "m:predict"}, "POST"),
    ],
)
def test_the_error_about_a_wrong_method_names_the_allowed_ones(
    error_handlers, path_params, allowed
):
    response = asyncio.run(
        error_handlers.reply_to_wrong_method(
            create_request(**path_params),
            HTTPException(405, headers={"Allow": "GET"}),
        )
    )
    assert response.status_code == 405
    assert response.headers["Allow"] == allowed
    assert error_of(response) == f"use {allowed}"


def test_another_method_for_an_unknown_model_is_an_unknown_path(error_handlers):
    response = asyncio.run(
        error_handlers.reply_to_wrong_method(
            create_request(name="n:predict"),
            HTTPException(405, headers={"Allow": "GET"}),
        )
    )
    assert response.status_code == 404
