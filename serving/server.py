"""Answers HTTP requests with exported models, in one process.

docs/server.md lists the paths. served_model.py computes the answers.
"""

import asyncio
import functools
import hmac
import json
import os
import shlex
import signal
import socket
import threading
import time
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import fastapi
import uvicorn
from absl import logging
from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from serving.requests import read_json
from serving.served_model import ServedModel, to_exception
from serving.tasks import TASKS
from serving.tasks.base import LISTS

T = TypeVar("T")

_PAGE = Path(__file__).parent / "page"
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
    for task in {x.name: x for tasks in TASKS.values() for x in tasks}.values()
]
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": _SCHEMAS}}},
    }
}


class Server:
    """Answers HTTP requests for all models, as an ASGI application.

    Args:
        models: {name of the model in requests: ServedModel}.
        token: bearer token that clients must send, or "" for no token.
        max_body_bytes: maximum bytes of a body.
        max_texts: maximum number of texts, or pairs of texts, in a request.
        timeout_s: maximum seconds to receive a request, to compute its reply,
            and to send the reply.

    Attributes:
        is_ready: True when all models are loaded.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        token: str = "",
        max_body_bytes: int = 1 << 18,
        max_texts: int = 128,
        timeout_s: float = 30.0,
    ) -> None:
        self.models = models
        self.timeout_s = timeout_s
        self.is_ready = False
        self._max_body_bytes = max_body_bytes
        self._max_texts = max_texts
        self._token = f"Bearer {token}".encode() if token else b""
        self._app = fastapi.FastAPI(
            title="Exported BERT models", docs_url=None, redoc_url=None
        )
        self._app.add_exception_handler(HTTPException, _answer_error)
        self._app.get("/healthz")(self._health)
        self._app.get("/api/models")(self._list)
        post = functools.partial(self._app.post, openapi_extra=_BODY)
        post("/api/models/{name}/{task}")(self._do_task)
        post("/v1/models/{name}:predict")(self._predict)
        self._app.mount("/", StaticFiles(directory=_PAGE, html=True))

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request, as an ASGI application."""
        app: Any = self._app
        sent = dict(scope["headers"]).get(b"authorization", b"")
        # Everyone may load the page, which asks for the token.
        if not scope["path"].startswith(("/api", "/v1", "/openapi")):
            pass
        elif self._token and not hmac.compare_digest(sent, self._token):
            message = "no or wrong token: send Authorization: Bearer TOKEN"
            header = {"WWW-Authenticate": "Bearer"}
            app = JSONResponse({"error": message}, 401, header)
        elif scope["method"] == "GET" and "/models/" in scope["path"]:
            app = JSONResponse({"error": "use POST"}, 405, {"Allow": "POST"})
        elif not self.is_ready:
            message = "the models are still loading; try again later"
            app = JSONResponse({"error": message}, 503, {"Retry-After": "1"})
        await app(scope, receive, send)

    async def _health(self) -> Response:
        """Returns status 200 once every model is loaded, and 503 otherwise."""
        if self.is_ready:
            return JSONResponse({"status": "ready"})
        raise HTTPException(503, "loading")

    async def _list(self) -> Response:
        """Returns {"models": list of objects}, which describe the models."""
        models = [{"name": k, **v.about} for k, v in self.models.items()]
        return JSONResponse({"models": models})

    async def _do_task(
        self, name: str, task: str, request: Request
    ) -> Response:
        """Answers {"text": "..."}, or several texts, by a task of a model.

        The fields depend on the task, as in predict.py. For several texts, send
        a list of objects, or a list of texts in a field.
        """
        return await self._answer(request, name, task, False)

    async def _predict(self, name: str, request: Request) -> Response:
        """Answers {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        return await self._answer(request, name, "", True)

    async def _answer(
        self, request: Request, name: str, task_name: str, is_predict: bool
    ) -> Response:
        model = _find("model", name, self.models)
        task_name = task_name or next(iter(model.tasks))
        task = _find(f"task of {name}", task_name, model.tasks)
        body = await self._read_body(request)
        try:
            requests, is_many = read_json(task, body, is_predict)
        except ValueError as error:
            raise to_exception(error) from None
        # The query is read once for each passage.
        lists = (x.get("passages") for x in requests if isinstance(x, dict))
        lengths = [len(each) for each in lists if isinstance(each, list)]
        count = max(len(requests), sum(lengths))
        if count > self._max_texts:
            raise HTTPException(
                413,
                f"{count} texts are more than {self._max_texts}, the server's "
                "--max_texts; send fewer texts per request",
            )
        try:
            async with asyncio.timeout(self.timeout_s):
                replies = await model.submit(task, requests)
        except TimeoutError:
            message = f"no answer within {self.timeout_s:g} s; send less text"
            raise HTTPException(504, message) from None
        text = b", ".join(replies)
        if is_predict:
            text = b'{"predictions": [%b]}' % text
        elif is_many:
            text = b"[%b]" % text
        return Response(text, media_type="application/json")

    async def _read_body(self, request: Request) -> bytes:
        # If the body is too large, uvicorn reads and drops the rest, so that
        # the client sees the reply.
        body = bytearray()
        try:
            async with asyncio.timeout(self.timeout_s):
                async for part in request.stream():
                    body += part
                    if len(body) > self._max_body_bytes:
                        raise HTTPException(
                            413,
                            f"the body is longer than {self._max_body_bytes} "
                            "bytes, the server's --max_body_bytes; send fewer "
                            "texts per request",
                        )
        except TimeoutError:
            message = f"the body did not arrive within {self.timeout_s:g} s"
            raise HTTPException(408, message, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise HTTPException(400, "the body ended too early") from None
        return bytes(body)


def _find(kind: str, name: str, known: Mapping[str, T]) -> T:
    if name in known:
        return known[name]
    names = ", ".join(known)
    raise HTTPException(404, f"no {kind} {name!r}; choose from {names}")


async def _answer_error(request: Request, error: HTTPException) -> Response:
    message = {"error": error.detail}
    return JSONResponse(message, error.status_code, error.headers)


class _Uvicorn(uvicorn.Server):
    # {(connection, its last request, whether the request was answered): time at
    # which `on_tick` first saw this key}
    _since: Mapping[tuple[object, object, bool], float] = {}

    async def on_tick(self, counter: int) -> bool:
        # Close connections of clients that send no complete request or do not
        # read their reply. Uvicorn calls this method ten times a second.
        now = time.monotonic()
        since = {}
        for connection in list(self.server_state.connections):
            cycle = getattr(connection, "cycle", None)
            is_idle = cycle is None or cycle.response_complete
            # A reply changes this key, so idle time is counted from the reply.
            key = connection, cycle, is_idle
            since[key] = self._since.get(key, now)
            # Receiving a request, computing its reply and sending the reply may
            # each take timeout_s.
            most = self.config.app.timeout_s * (1 if is_idle else 3)
            if now - since[key] > most and connection.transport is not None:
                connection.transport.abort()
        self._since = since
        return await super().on_tick(counter)


def serve(server: Server, host: str, port: int) -> None:
    """Loads the models, and answers requests until SIGTERM or Ctrl-C.

    Requests that were accepted before the signal are still answered. `port` 0
    means any free port.

    Raises:
        OSError: a model is damaged.
        ValueError: the port is in use, or a model cannot be served.
    """
    # Listen before loading the models, so that an error about the address
    # appears at once, and not after minutes of loading.
    listener = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}"
    timeout = server.timeout_s
    config = uvicorn.Config(
        server,
        # Uvicorn's other parser, httptools, does not limit the size of headers.
        http="h11",
        ws="none",
        lifespan="off",
        # Maximum bytes of a request's path and headers.
        h11_max_incomplete_event_size=1 << 16,
        # Requests on more open connections get status 503.
        limit_concurrency=1000,
        timeout_keep_alive=int(max(5, timeout)),
        # Time to receive a request, to compute its reply and to send the reply.
        timeout_graceful_shutdown=int(3 * timeout + 1),
        log_config=None,
        access_log=False,
        server_header=False,
    )
    running = _Uvicorn(config)
    # Uvicorn installs its own handlers only while it serves, and raises the
    # signals again when it ends. Then these handlers run, without an effect.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, running.handle_exit)
    failures: list[Exception] = []

    def load() -> None:
        try:
            for model in server.models.values():
                model.load()
            server.is_ready = True
            command = _format_request(server, address)
            logging.info("ready: %s\n  %s", address, command)
        except Exception as error:
            failures.append(error)
            running.should_exit = True

    loader = threading.Thread(target=load, daemon=True)
    loader.start()
    logging.info("loading the models; %s/healthz is 200 afterwards", address)
    asyncio.run(running.serve([listener]))
    if failures:
        raise failures[0]
    if loader.is_alive():
        # Python cannot end cleanly while a thread imports TensorFlow.
        os._exit(0)
    logging.info("stopped: all accepted requests are answered")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ValueError(f"--port={port}: {error}; set another") from error
    # Disable Nagle's algorithm, with which the body of a reply waits 40 ms for
    # the client's ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _format_request(server: Server, address: str) -> str:
    # Returns a command that asks the first model.
    name, model = next(iter(server.models.items()))
    task = next(iter(model.tasks.values()))
    text = "A [MASK]." if task.predicts_words else "A text."
    body = shlex.quote(json.dumps(dict.fromkeys(task.fields, text)))
    url = f"{address}/api/models/{urllib.parse.quote(name)}/{task.name}"
    curl = "curl"
    if server._token:
        curl = "curl -H 'Authorization: Bearer TOKEN'"
    return f"{curl} -d {body} {url}"
