"""Answers HTTP requests with exported models.

docs/server.md lists the paths. server_queue.py computes the answers, and
server_process.py receives the requests.
"""

import asyncio
import functools
import hmac
import http
from collections.abc import Mapping, Sequence
from concurrent import futures
from pathlib import Path
from typing import TypeVar

import fastapi
from fastapi import Request as HttpRequest
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.requests import parse_body
from serving.server_queue import QueuedCall, ServedModel, to_exception
from serving.serving_flags import LimitFlags
from serving.tasks import TASKS
from serving.tasks.text_task import LISTS
from serving.text_model import TextModel

T = TypeVar("T")

_PAGE = Path(__file__).parent / "page"
_TASKS = {task.name: task for tasks in TASKS.values() for task in tasks}
# The fields of each task, for openapi.json. `TextTask.texts` checks requests.
_SCHEMAS = [
    {
        "title": task.name,
        "properties": {
            name: {"type": "array" if name in LISTS else "string"}
            for field in task.fields
            for name in task.names_of(field)
        },
    }
    for task in _TASKS.values()
]
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": _SCHEMAS}}},
    }
}
# Replaces FastAPI's status 422, which no request gets.
_ERROR = {
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
_PREDICT_SUFFIX = ":predict"
_PAGE_PATHS = ["/", *(f"/{file.name}" for file in _PAGE.iterdir())]
# Paths that need no token. The page asks for it.
_OPEN_PATHS = frozenset(("/healthz", *_PAGE_PATHS))
_PATHS = (
    "GET /, GET /healthz, GET /api/models, POST /api/models/NAME/TASK, "
    "GET /v1/models/NAME, POST /v1/models/NAME:predict, GET /openapi.json"
)


class Server:
    """Answers HTTP requests for all models, as an ASGI application.

    Args:
        models: {name of the model in requests: ServedModel}.
        token: bearer token that clients must send, or "" for no token.
        limits: limits on requests.
        origins: origins of web pages that may read replies. "*" = all.

    Attributes:
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
        self._token = token.encode()
        # Counts the WordPieces of long requests.
        self._counter = futures.ThreadPoolExecutor(1)
        self._files = StaticFiles(directory=_PAGE)
        self._app = self._create_app()
        self._entry: ASGIApp = self._answer_checked
        if origins:
            self._entry = CORSMiddleware(
                self._answer_checked,
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
            responses={"default": _ERROR},
        )
        app.exception_handler(HTTPException)(self._answer_error)
        app.get("/healthz")(self._health)
        app.get("/api/models")(self._list)
        post = functools.partial(app.post, openapi_extra=_BODY)
        post("/api/models/{name}/{task}")(self._do_task)
        post(f"/v1/models/{{name}}{_PREDICT_SUFFIX}")(self._predict)
        app.get("/v1/models/{name}")(self._status)
        for path in _PAGE_PATHS:
            app.get(path, include_in_schema=False)(self._send_file)
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

    async def _answer_checked(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        app: ASGIApp = self._app
        needs_token = self.has_token and scope["path"] not in _OPEN_PATHS
        if needs_token and not self._is_allowed(scope):
            message = "no or wrong token: send Authorization: Bearer TOKEN"
            header = {"WWW-Authenticate": "Bearer"}
            app = JSONResponse({"error": message}, 401, header)
        await app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        """Returns whether the request has the token.

        HTTP ignores the case of "Bearer".
        """
        header = dict(scope["headers"]).get(b"authorization", b"")
        scheme, _, token = header.partition(b" ")
        is_same = hmac.compare_digest(token.strip(), self._token)
        return is_same and scheme.lower() == b"bearer"

    async def _send_file(self, request: HttpRequest) -> Response:
        name = request.url.path[1:] or "index.html"
        return await self._files.get_response(name, request.scope)

    async def _health(self) -> Response:
        """Returns status 200 once every model is loaded, and 503 otherwise."""
        if self.is_ready:
            return JSONResponse({"status": "ready"})
        raise HTTPException(503, "loading")

    async def _list(self) -> Response:
        """Returns {"models": list of objects}, which describe the models."""
        self._require_models()
        models = [
            {"name": name, **model.about} for name, model in self.models.items()
        ]
        return JSONResponse({"models": models})

    async def _status(self, name: str) -> Response:
        """Returns {"model_version_status": [...]}, as TensorFlow Serving."""
        if name not in self.models and name.endswith(_PREDICT_SUFFIX):
            raise HTTPException(405, "use POST", {"Allow": "POST"})
        status = {
            "version": _get_or_404("model", name, self.models).version,
            "state": "AVAILABLE" if self.is_ready else "LOADING",
            "status": {"error_code": "OK", "error_message": ""},
        }
        return JSONResponse({"model_version_status": [status]})

    async def _do_task(
        self, name: str, task: str, request: HttpRequest
    ) -> Response:
        """Answers {"text": "..."}, or several texts, by a task of a model.

        The fields depend on the task, as in predict.py. For several texts, send
        a list of objects, or a list of texts in a field.
        """
        return await self._answer(request, name, task)

    async def _predict(self, name: str, request: HttpRequest) -> Response:
        """Answers {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        return await self._answer(request, name, is_predict=True)

    async def _answer(
        self,
        request: HttpRequest,
        name: str,
        task_name: str = "",
        is_predict: bool = False,
    ) -> Response:
        """Answers a request by a task, by default the model's main task."""
        self._require_models()
        model = _get_or_404("model", name, self.models)
        task_name = task_name or next(iter(model.tasks))
        task = _get_or_404(f"task of {name}", task_name, model.tasks)
        body = await self._read_body(request)
        try:
            requests, is_many = parse_body(task, body, is_predict)
        except ValueError as error:
            raise to_exception(error) from None
        replies = await self._compute(
            request, model, QueuedCall(task, requests)
        )
        text = b", ".join(replies)
        if is_predict:
            text = b'{"predictions": [%b]}' % text
        elif is_many:
            text = b"[%b]" % text
        return Response(text, media_type="application/json")

    def _require_models(self) -> None:
        if not self.is_ready:
            message = "the models are still loading; try again later"
            raise HTTPException(503, message, {"Retry-After": "1"})

    async def _compute(
        self, request: HttpRequest, model: ServedModel, call: QueuedCall
    ) -> list[bytes]:
        """Returns the replies, if the client waits for them in time.

        Nothing more is computed for a client that is gone or late.
        """

        async def compute() -> list[bytes]:
            await self._check(model.model, call)
            return await model.submit(call)

        seconds = self.limits.timeout_s
        replies = asyncio.ensure_future(compute())
        gone = asyncio.ensure_future(_until_gone(request))
        try:
            await asyncio.wait(
                [replies, gone],
                timeout=seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if replies.done():
                return replies.result()
            if gone.done():
                raise HTTPException(400, "the client closed the connection")
        finally:
            replies.cancel()
            gone.cancel()
        advice = "the server is busy; try again later"
        if call.is_long:
            advice = "send less text"
        raise HTTPException(504, f"no answer within {seconds:g} s; {advice}")

    async def _check(self, model: TextModel, call: QueuedCall) -> None:
        """Checks the number of texts of a call, their fields and length."""
        num_texts = _count_texts(call.requests)
        max_texts = self.limits.max_texts
        if num_texts > max_texts:
            raise HTTPException(
                413,
                f"{num_texts} texts are more than {max_texts}, the "
                "server's --max_texts; send fewer texts per request",
            )
        for number, request in enumerate(call.requests, 1):
            try:
                call.task.texts(request)
            except ValueError as error:
                where = f"text {number}: " if len(call.requests) > 1 else ""
                raise to_exception(error, where) from None
        max_pieces = self.limits.max_pieces
        # A text has at most as many WordPieces as bytes.
        if call.num_bytes <= max_pieces:
            return

        def count_pieces() -> int:
            return sum(
                call.task.count_wordpieces(model.prepared, request)
                for request in call.requests
            )

        loop = asyncio.get_running_loop()
        num_pieces = await loop.run_in_executor(self._counter, count_pieces)
        if num_pieces > max_pieces:
            raise HTTPException(
                413,
                f"{num_pieces} WordPieces are more than {max_pieces}, the "
                "server's --max_pieces; send less text per request",
            )

    async def _read_body(self, request: HttpRequest) -> bytes:
        """Returns the body of a request.

        If it is too large, uvicorn reads and drops the rest, so that the client
        sees the reply.
        """
        body = bytearray()
        max_bytes = self.limits.max_body_bytes
        seconds = self.limits.timeout_s
        try:
            async with asyncio.timeout(seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > max_bytes:
                        raise HTTPException(
                            413,
                            f"the body is longer than {max_bytes} bytes, the "
                            "server's --max_body_bytes; send less text per "
                            "request",
                        )
        except TimeoutError:
            message = f"the body did not arrive within {seconds:g} s"
            raise HTTPException(408, message, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise HTTPException(400, "the body ended too early") from None
        return bytes(body)

    async def _answer_error(
        self, request: HttpRequest, error: HTTPException
    ) -> Response:
        """Returns {"error": message}, also for paths that do not exist."""
        status, message = error.status_code, error.detail
        headers = dict(error.headers or {})
        is_unknown = message == http.HTTPStatus.NOT_FOUND.phrase
        if status == http.HTTPStatus.METHOD_NOT_ALLOWED:
            # The path of a status also matches NAME:WORD.
            name = request.path_params.get("name", "").removesuffix(
                _PREDICT_SUFFIX
            )
            is_unknown = name not in ("", *self.models)
            if headers["Allow"] == "GET":
                headers["Allow"] = "GET, HEAD"
            message = f"use {headers['Allow']}"
        if is_unknown:
            status, headers = http.HTTPStatus.NOT_FOUND, {}
            message = f"there is no such path; the paths are {_PATHS}"
        return JSONResponse({"error": message}, status, headers)


def _count_texts(requests: Sequence[object]) -> int:
    """Returns the number of requests, or of the passages in them if higher.

    The query is read once for each passage.
    """
    passages = [
        request.get("passages")
        for request in requests
        if isinstance(request, dict)
    ]
    lengths = [len(texts) for texts in passages if isinstance(texts, list)]
    return max(len(requests), sum(lengths))


def _get_or_404(kind: str, name: str, choices: Mapping[str, T]) -> T:
    if name in choices:
        return choices[name]
    names = ", ".join(choices)
    raise HTTPException(404, f"no {kind} {name!r}; choose from {names}")


async def _until_gone(request: HttpRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
