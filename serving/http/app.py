"""Answers HTTP requests with exported models.

docs/server.md lists the paths. served_model.py computes the answers, and
server_process.py receives the requests.
"""

import asyncio
import http
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import fastapi
from fastapi import Request as HttpRequest
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.http import openapi
from serving.http.call_queue import QueuedCall
from serving.http.errors import (
    HttpError,
    create_error_response,
    to_http_error,
)
from serving.http.request_bodies import parse_body, parse_predict_body
from serving.http.request_limits import RequestLimits
from serving.http.served_model import ServedModel
from serving.http.token_check import TokenCheck
from serving.serving_flags import LimitFlags
from serving.text_tasks.request_lists import RequestList
from serving.text_tasks.text_task import AnyTextTask

T = TypeVar("T")

_PAGE_FOLDER = Path(__file__).parent / "page"
_PAGE_FILES = [f"/{file.name}" for file in _PAGE_FOLDER.iterdir()]
# Paths that need no token. The page asks for it.
_OPEN_PATHS = frozenset(("/", "/healthz", *_PAGE_FILES))
_PREDICT_SUFFIX = ":predict"


class _Route(NamedTuple):
    """A path of the server, with the names of its parts in braces.

    Attributes:
        method: method of HTTP.
        path: path for which the route stands, "/v1/models/{name}".
        name: name of the operation in openapi.json, which clients that are
            generated from it call.
        reply: method of ServerApp that answers its requests.
    """

    method: str
    path: str
    name: str
    reply: Callable[..., Awaitable[Response]]

    def __str__(self) -> str:
        """Returns the route as messages show it."""
        return f"{self.method} {self.path.format(name='NAME', task='TASK')}"


class _BodyReplies(NamedTuple):
    """The answers to the requests of a body.

    Attributes:
        replies: the JSON text of each reply.
        is_list: whether the client asked for a list of replies.
    """

    replies: list[bytes]
    is_list: bool


class ServerApp:
    """Answers HTTP requests for all models, as an ASGI application.

    Args:
        models: {name of the model in requests: ServedModel}.
        token: bearer token that clients must send, or "" for no token.
        limits: limits on requests.
        origins: origins of web pages that may read replies. "*" stands for all.

    Attributes:
        models: {name of the model in requests: ServedModel}.
        limits: limits on requests, the defaults of the flags if none are given.
        has_token: whether clients must send a token.
        is_ready: True when all models are loaded.
        is_stopping: True to close each connection after its next reply.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        token: str = "",
        limits: LimitFlags | None = None,
        origins: Sequence[str] = (),
    ) -> None:
        self.models = models
        self.limits = limits or LimitFlags()
        self.is_ready = False
        self.is_stopping = False
        self.has_token = bool(token)
        self._request_limits = RequestLimits(self.limits)
        self._files = StaticFiles(directory=_PAGE_FOLDER)
        # In the order in which messages list them.
        self._routes = [
            _Route("GET", "/", "_file", self._reply_file),
            _Route("GET", "/healthz", "_health", self._reply_health),
            _Route("GET", "/api/models", "_list", self._reply_models),
            _Route(
                "POST",
                "/api/models/{name}/{task}",
                "_do_task",
                self._reply_task,
            ),
            _Route("GET", "/v1/models/{name}", "_status", self._reply_status),
            _Route(
                "POST",
                f"/v1/models/{{name}}{_PREDICT_SUFFIX}",
                "_predict",
                self._reply_predictions,
            ),
        ]
        self._app = self._create_app()
        # What a request passes: the rules for web pages, the token, the paths.
        self._entry: ASGIApp = self._app
        if token:
            self._entry = TokenCheck(self._app, token, _OPEN_PATHS)
        if origins:
            self._entry = CORSMiddleware(
                self._entry,
                allow_origins=origins,
                allow_methods=["GET", "HEAD", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )

    def _create_app(self) -> fastapi.FastAPI:
        """Returns the application, which finds the method for each path."""
        app = fastapi.FastAPI(
            title="Exported BERT models",
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
            responses={"default": openapi.ERROR_RESPONSE},
        )
        app.exception_handler(HttpError)(self._reply_error)
        app.exception_handler(http.HTTPStatus.NOT_FOUND)(self._reply_no_path)
        app.exception_handler(http.HTTPStatus.METHOD_NOT_ALLOWED)(
            self._reply_wrong_method
        )
        # The path of a status also matches :predict, which must be found first.
        for route in reversed(self._routes):
            app.api_route(
                route.path,
                methods=[route.method],
                openapi_extra=openapi.BODY_SCHEMA
                if route.method == "POST"
                else None,
                include_in_schema=route.path != "/",
                name=route.name,
            )(route.reply)
        for path in _PAGE_FILES:
            app.get(path, include_in_schema=False)(self._reply_file)
        return app

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request, as an ASGI application."""

        async def send_closing(message: Message) -> None:
            if message["type"] == "http.response.start" and self.is_stopping:
                headers = MutableHeaders(scope=message)
                headers["Connection"] = "close"
            await send(message)

        # Uvicorn sends no body to HEAD.
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._entry(scope, receive, send_closing)

    async def _reply_file(self, request: HttpRequest) -> Response:
        name = request.url.path[1:] or "index.html"
        return await self._files.get_response(name, request.scope)

    async def _reply_health(self) -> Response:
        """Returns status 200 once every model is loaded, and 503 otherwise."""
        if self.is_ready:
            return JSONResponse({"status": "ready"})
        raise HttpError(503, "loading")

    async def _reply_models(self) -> Response:
        """Returns {"models": list of objects}, which describe the models."""
        self._check_ready()
        models = [
            {"name": name, **served_model.about}
            for name, served_model in self.models.items()
        ]
        return JSONResponse({"models": models})

    async def _reply_status(self, name: str) -> Response:
        """Returns {"model_version_status": [...]}, as TensorFlow Serving."""
        if name not in self.models and name.endswith(_PREDICT_SUFFIX):
            raise HTTPException(405, "use POST", {"Allow": "POST"})
        status = {
            "version": _find_or_404("model", name, self.models).version,
            "state": "AVAILABLE" if self.is_ready else "LOADING",
            "status": {"error_code": "OK", "error_message": ""},
        }
        return JSONResponse({"model_version_status": [status]})

    async def _reply_task(
        self, name: str, task: str, request: HttpRequest
    ) -> Response:
        """Answers {"text": "..."}, or several texts, by a task of a model.

        The fields depend on the task, as in predict.py. For several texts, send
        a list of objects, or a list of texts in a field.
        """
        served_model = self._find_model(name)
        text_task = _find_or_404(
            f"task of {name}", task, served_model.text_task_of_name
        )
        answers = await self._answer_body(
            request, served_model, text_task, parse_body
        )
        text = b", ".join(answers.replies)
        return _create_response(b"[%b]" % text if answers.is_list else text)

    async def _reply_predictions(
        self, name: str, request: HttpRequest
    ) -> Response:
        """Answers {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        served_model = self._find_model(name)
        text_task = served_model.main_text_task
        answers = await self._answer_body(
            request, served_model, text_task, parse_predict_body
        )
        text = b", ".join(answers.replies)
        return _create_response(b'{"predictions": [%b]}' % text)

    def _find_model(self, name: str) -> ServedModel:
        self._check_ready()
        return _find_or_404("model", name, self.models)

    def _check_ready(self) -> None:
        if not self.is_ready:
            message = "the models are still loading; try again later"
            raise HttpError(503, message, {"Retry-After": "1"})

    async def _answer_body(
        self,
        request: HttpRequest,
        served_model: ServedModel,
        text_task: AnyTextTask,
        parse: Callable[[AnyTextTask, bytes], RequestList],
    ) -> _BodyReplies:
        """Answers the requests in a body, which `parse` parses."""
        body = await self._request_limits.read_body(request)
        try:
            parsed = parse(text_task, body)
        except ValueError as error:
            raise to_http_error(error) from None
        call = QueuedCall(text_task, parsed.requests)
        replies = asyncio.create_task(self._compute_replies(served_model, call))
        texts = await self._wait_for_replies(replies, request, call)
        return _BodyReplies(texts, parsed.is_list)

    async def _compute_replies(
        self, served_model: ServedModel, call: QueuedCall
    ) -> list[bytes]:
        """Returns the replies to a call that is within the limits."""
        await self._request_limits.check_call(
            served_model.text_model.prepared, call
        )
        return await served_model.submit(call)

    async def _wait_for_replies(
        self,
        replies: asyncio.Task[list[bytes]],
        request: HttpRequest,
        call: QueuedCall,
    ) -> list[bytes]:
        """Returns the replies, if the client waits for them in time.

        Nothing more is computed for a client that is gone or late.
        """
        seconds = self.limits.timeout_s
        gone = asyncio.create_task(_wait_for_disconnect(request))
        try:
            await asyncio.wait(
                [replies, gone],
                timeout=seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if replies.done():
                return replies.result()
            if gone.done():
                raise HttpError(400, "the client closed the connection")
        finally:
            replies.cancel()
            gone.cancel()
        advice = "the server is busy; try again later"
        if call.is_long:
            advice = "send less text"
        raise HttpError(504, f"no answer within {seconds:g} s; {advice}")

    async def _reply_error(
        self, request: HttpRequest, error: HttpError
    ) -> Response:
        return create_error_response(error.status, error.message, error.headers)

    async def _reply_no_path(
        self, request: HttpRequest, error: HTTPException
    ) -> Response:
        """Answers a request to a path that does not exist."""
        paths = [*map(str, self._routes), f"GET {self._app.openapi_url}"]
        message = f"there is no such path; the paths are {', '.join(paths)}"
        return create_error_response(404, message)

    async def _reply_wrong_method(
        self, request: HttpRequest, error: HTTPException
    ) -> Response:
        """Answers a request to a path that has other methods."""
        # The path of a status also matches NAME:WORD.
        name = request.path_params.get("name", "").removesuffix(_PREDICT_SUFFIX)
        if name not in ("", *self.models):
            return await self._reply_no_path(request, error)
        allowed = (error.headers or {})["Allow"]
        if allowed == "GET":
            allowed = "GET, HEAD"
        return create_error_response(405, f"use {allowed}", {"Allow": allowed})


def _create_response(text: bytes) -> Response:
    return Response(text, media_type="application/json")


def _find_or_404(kind: str, name: str, choices: Mapping[str, T]) -> T:
    if name in choices:
        return choices[name]
    names = ", ".join(choices)
    raise HttpError(404, f"no {kind} {name!r}; choose from {names}")


async def _wait_for_disconnect(request: HttpRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
