"""Routes each path of the server to its handler, and all others to an error.

`create_router` also says what openapi.json contains.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple

import fastapi
from fastapi import Request as HttpRequest
from starlette.exceptions import HTTPException
from starlette.responses import Response

from serving.http.errors import (
    HttpError,
    create_error_response,
    to_http_error,
)
from serving.http.handlers import PAGE_FOLDER, PREDICT_SUFFIX, Handlers
from serving.http.server_state import ServerState
from serving.text_tasks.request_fields import RequestError
from serving.text_tasks.text_task_registry import list_text_tasks

_PAGE_FILES = [f"/{file.name}" for file in PAGE_FOLDER.iterdir()]
# Paths that need no token. The page asks the user for the token.
OPEN_PATHS = frozenset(("/", "/healthz", *_PAGE_FILES))
_OPENAPI_PATH = "/openapi.json"
# How openapi.json describes all errors, in the place of FastAPI's status 422,
# which no request gets.
_ERROR_RESPONSE = {
    "description": "An error",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "properties": {"error": {"type": "string"}},
                "required": ["error"],
            }
        }
    },
}


def create_router(state: ServerState) -> fastapi.FastAPI:
    """Returns an ASGI application that finds the handler for each path.

    Args:
        state: models of the server, and whether it is ready.
    """
    handlers = Handlers(state)
    routes = _list_routes(handlers)
    error_handlers = ErrorHandlers(
        state.exports.keys(), [*map(str, routes), f"GET {_OPENAPI_PATH}"]
    )
    router = fastapi.FastAPI(
        title="Exported BERT models",
        openapi_url=_OPENAPI_PATH,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={"default": _ERROR_RESPONSE},
        exception_handlers={
            HttpError: error_handlers.reply_to_failed_request,
            RequestError: error_handlers.reply_to_failed_request,
            404: error_handlers.reply_to_unknown_path,
            405: error_handlers.reply_to_wrong_method,
        },
    )
    body_schema = _create_body_schema()
    for route in routes:
        router.api_route(
            route.path,
            methods=[route.method],
            openapi_extra=body_schema if route.method == "POST" else None,
            include_in_schema=route.operation is not None,
            operation_id=route.operation and route.operation.id,
            summary=route.operation and route.operation.summary,
        )(route.handler)
    for path in _PAGE_FILES:
        router.get(path, include_in_schema=False)(
            handlers.reply_to_page_request
        )
    return router


class _Operation(NamedTuple):
    """The id and the title of a path in openapi.json.

    Attributes:
        id: id by which generated clients call the operation. It must never
            change.
        summary: title of the operation.
    """

    id: str
    summary: str


class _Route(NamedTuple):
    """A path of the server, with the names of its parts in braces.

    Attributes:
        method: method of HTTP.
        path: path for which the route stands, "/v1/models/{name}".
        handler: method of Handlers that replies to the requests.
        operation: the path in openapi.json, None if the file omits it.
    """

    method: str
    path: str
    handler: Callable[..., Awaitable[Response]]
    operation: _Operation | None

    def __str__(self) -> str:
        """Returns the route as messages show it."""
        return f"{self.method} {self.path.format(name='NAME', task='TASK')}"


def _list_routes(handlers: Handlers) -> list[_Route]:
    """Returns the routes, in the order in which messages list them.

    The page that browsers show is not an operation.
    """
    return [
        _Route("GET", "/", handlers.reply_to_page_request, None),
        _Route(
            "GET",
            "/healthz",
            handlers.reply_to_health_request,
            _Operation("_health_healthz_get", "Health"),
        ),
        _Route(
            "GET",
            "/api/models",
            handlers.reply_to_models_request,
            _Operation("_list_api_models_get", "List"),
        ),
        _Route(
            "POST",
            "/api/models/{name}/{task}",
            handlers.reply_to_text_task_request,
            _Operation("_do_task_api_models__name___task__post", "Do Task"),
        ),
        _Route(
            "GET",
            "/v1/models/{name}",
            handlers.reply_to_status_request,
            _Operation("_status_v1_models__name__get", "Status"),
        ),
        _Route(
            "POST",
            f"/v1/models/{{name}}{PREDICT_SUFFIX}",
            handlers.reply_to_predict_request,
            _Operation("_predict_v1_models__name__predict_post", "Predict"),
        ),
    ]


def _create_body_schema() -> dict[str, object]:
    """Returns the schema in openapi.json of the body of a POST.

    A body has the fields of a text task. `TextTask.parse_request` checks them.
    """
    text_task_schemas = [
        {
            "title": text_task.name,
            "properties": {
                name: {"type": "array" if field.is_list_as(name) else "string"}
                for field in text_task.fields
                for name in field.names
            },
        }
        for text_task in list_text_tasks()
    ]
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"anyOf": text_task_schemas}}
            },
        }
    }


class ErrorHandlers:
    """Replies with an error that FastAPI catches.

    Args:
        model_names: names of the models in requests.
        paths: the paths of the server, as messages show them.
    """

    def __init__(
        self, model_names: Collection[str], paths: Sequence[str]
    ) -> None:
        self._model_names = model_names
        self._paths = paths

    async def reply_to_failed_request(
        self, http_request: HttpRequest, error: HttpError | RequestError
    ) -> Response:
        """Replies to a request with the error that its handler raised."""
        if isinstance(error, RequestError):
            error = to_http_error(error)
        return create_error_response(error.status, error.message, error.headers)

    async def reply_to_unknown_path(
        self, http_request: HttpRequest, error: HTTPException
    ) -> Response:
        """Replies to a request to a path that does not exist."""
        message = (
            f"there is no such path; the paths are {', '.join(self._paths)}"
        )
        return create_error_response(404, message)

    async def reply_to_wrong_method(
        self, http_request: HttpRequest, error: HTTPException
    ) -> Response:
        """Replies to a request to a path that has other methods."""
        name = http_request.path_params.get("name", "")
        allowed = (error.headers or {})["Allow"]
        # The path of a status also matches NAME:predict, and NAME:WORD, which
        # is not a path.
        if name.endswith(PREDICT_SUFFIX) and name not in self._model_names:
            name = name.removesuffix(PREDICT_SUFFIX)
            allowed = "POST"
        if name not in ("", *self._model_names):
            return await self.reply_to_unknown_path(http_request, error)
        if allowed == "GET":
            allowed = "GET, HEAD"
        return create_error_response(405, f"use {allowed}", {"Allow": allowed})
