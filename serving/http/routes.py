"""Lists the paths of the server, and routes each to its handler."""

import http
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import fastapi
from starlette.responses import Response

from serving.http import openapi
from serving.http.error_handlers import ErrorHandlers
from serving.http.errors import HttpError
from serving.http.handlers import PAGE_FOLDER, PREDICT_SUFFIX, Handlers
from serving.http.server_state import ServerState

_PAGE_FILES = [f"/{file.name}" for file in PAGE_FOLDER.iterdir()]
# Paths that need no token. The page asks the user for the token.
OPEN_PATHS = frozenset(("/", "/healthz", *_PAGE_FILES))


class _Route(NamedTuple):
    """A path of the server, with the names of its parts in braces.

    Attributes:
        method: method of HTTP.
        path: path for which the route stands, "/v1/models/{name}".
        handler: method of Handlers that answers the requests.
    """

    method: str
    path: str
    handler: Callable[..., Awaitable[Response]]

    def __str__(self) -> str:
        """Returns the route as messages show it."""
        return f"{self.method} {self.path.format(name='NAME', task='TASK')}"


def _list_routes(handlers: Handlers) -> list[_Route]:
    """Returns the routes, in the order in which messages list them."""
    return [
        _Route("GET", "/", handlers.answer_page_request),
        _Route("GET", "/healthz", handlers.answer_health_request),
        _Route("GET", "/api/models", handlers.answer_models_request),
        _Route(
            "POST", "/api/models/{name}/{task}", handlers.answer_task_request
        ),
        _Route("GET", "/v1/models/{name}", handlers.answer_status_request),
        _Route(
            "POST",
            f"/v1/models/{{name}}{PREDICT_SUFFIX}",
            handlers.answer_predict_request,
        ),
    ]


def create_router(state: ServerState) -> fastapi.FastAPI:
    """Returns an ASGI application that finds the handler for each path.

    Args:
        state: models of the server, and whether it is ready.
    """
    router = fastapi.FastAPI(
        title="Exported BERT models",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses={"default": openapi.ERROR_RESPONSE},
    )
    handlers = Handlers(state)
    routes = _list_routes(handlers)
    for route in routes:
        operation = openapi.OPERATION_OF_PATH.get(route.path)
        router.api_route(
            route.path,
            methods=[route.method],
            openapi_extra=openapi.BODY_SCHEMA
            if route.method == "POST"
            else None,
            include_in_schema=operation is not None,
            name=operation,
        )(route.handler)
    for path in _PAGE_FILES:
        router.get(path, include_in_schema=False)(handlers.answer_page_request)
    error_handlers = ErrorHandlers(
        state.exports.keys(), [*map(str, routes), f"GET {router.openapi_url}"]
    )
    router.exception_handler(HttpError)(error_handlers.answer_failed_request)
    router.exception_handler(http.HTTPStatus.NOT_FOUND)(
        error_handlers.answer_unknown_path
    )
    router.exception_handler(http.HTTPStatus.METHOD_NOT_ALLOWED)(
        error_handlers.answer_wrong_method
    )
    return router
