"""Defines the server's routes, as an ASGI application.

The application uses Starlette and not FastAPI, because FastAPI needs a schema
of the bodies for each route. In TensorFlow Serving's protocol, the bodies
depend on the model.
"""

import asyncio
import contextlib
import functools
import hmac
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from absl import logging
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from serving.server import inference, protocol, replies
from serving.server.batching import Closed
from serving.server.limits import Limits, check_count
from serving.server.monitoring import Monitoring, RequestRecord
from serving.server.protocol import RestError
from serving.server.signatures import Key
from serving.server.versions import LoadedVersion, ServedModel

# The Content-Security-Policy lets the page load only files of this server.
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
# Maximum bytes of a reply that is sent as a whole. A longer reply is sent in
# parts of this size, to save memory.
_PART = 1 << 18


def to_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns a JSON response. As in TensorFlow Serving, NaN is allowed."""
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers, "application/json")


class Server:
    """Answers HTTP requests for all served models.

    Args:
        models: {name of the model in requests: ServedModel}.
        limits: limits on requests.
        monitoring: metrics and the request log.
        token: bearer token that clients must send, or "" for no token.
        poll: seconds between checks for new versions.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        limits: Limits,
        monitoring: Monitoring,
        token: str = "",
        poll: float = 1.0,
    ) -> None:
        self.models = models
        self.limits = limits
        self.monitoring = monitoring
        # Becomes True when the server begins to stop.
        self.is_ending = False
        self._expected = f"Bearer {token}".encode() if token else b""
        self._poll = poll

        def guard(path: str, answer: Any, *methods: str) -> Route:
            guarded = functools.partial(self._guard, answer)
            return Route(path, guarded, methods=methods or None)

        both = ("GET", "POST")
        every = (*both, "PUT", "DELETE", "PATCH")
        routes = [
            Route("/", self._page),
            Route("/page/{file}", self._page),
            Route("/healthz", self._health),
            Route("/readyz", self._ready),
            guard("/metrics", self._metrics),
            guard("/monitoring/prometheus/metrics", self._metrics),
            guard("/api/models", self._list),
            guard("/api/models/{name}/{task}", self._do_task, "POST"),
            guard("/v1/{path:path}", self._rest, *every),
            guard("/v2", self._infer, *both),
            guard("/v2/{path:path}", self._infer, *both),
        ]
        self._app = Starlette(routes=routes, lifespan=self._live)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request, as an ASGI application.

        Adds `Connection: close` to replies after a stop signal, and to replies
        to requests with both `Content-Length` and `Transfer-Encoding`.
        """
        names = {name for name, _ in scope.get("headers", ())}
        # If a request contains both headers, a proxy may disagree about the end
        # of the body, and read the rest of the body as another request.
        is_odd = {b"content-length", b"transfer-encoding"} <= names

        async def send_last(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and (is_odd or self.is_ending):
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self._app(scope, receive, send_last)

    @contextlib.asynccontextmanager
    async def _live(self, _: Starlette) -> AsyncIterator[None]:
        """Checks for new versions of the models while the server runs."""

        async def poll() -> None:
            while True:
                await asyncio.sleep(self._poll)
                for model in self.models.values():
                    try:
                        await asyncio.to_thread(model.refresh)
                    except (OSError, ValueError) as error:
                        logging.warning("%s: %s", model.path, error)

        task = asyncio.create_task(poll())
        yield
        task.cancel()

    async def _guard(self, answer: Any, request: Request) -> Response:
        """Answers a request, with token check, request log and error replies.

        `answer` is the route's function, RequestRecord -> Response.
        """
        with self.monitoring.observe(request) as record:
            headers: Mapping[str, str] | None = None
            try:
                sent = request.headers.get("authorization", "").encode()
                expected = self._expected
                if expected and not hmac.compare_digest(sent, expected):
                    raise RestError(
                        "wrong or no token: send the header "
                        "Authorization: Bearer ...",
                        401,
                        {"WWW-Authenticate": "Bearer"},
                    )
                # Read the complete body before raising another error, so that
                # the client can reuse the connection.
                if request.method == "POST":
                    record.content = await self.limits.read_body(request)
                try:
                    response = await answer(record)
                except Closed:
                    # A new version has replaced the version that was found.
                    response = await answer(record)
                record.status = response.status_code
                return response
            except RestError as error:
                record.status, record.error = error.status, str(error)
                headers = error.headers
            except RecursionError:
                record.status = 400
                record.error = "JSON Parse error: nested too deeply"
            except ClientDisconnect:
                record.status, record.error = 499, "client disconnected"
            except Exception:
                logging.exception("Failed to handle a request")
                record.error = "internal error (see the server's log)"
            return to_response({"error": record.error}, record.status, headers)

    async def _page(self, request: Request) -> Response:
        # Look up the name in the list of the folder's files, so that a client
        # cannot open files outside the folder.
        folder = Path(__file__).parent / "page"
        files = {file.name: file for file in folder.iterdir() if file.is_file()}
        name = request.path_params.get("file", "index.html")
        if name not in files:
            return Response("not found", 404, media_type="text/plain")
        return FileResponse(files[name], headers=_PAGE_HEADERS)

    async def _health(self, _: Request) -> Response:
        return to_response({"status": "alive"})

    async def _ready(self, _: Request) -> Response:
        if self.is_ending:
            return to_response({"status": "stopping"}, 503)
        return to_response({"status": "ready"})

    async def _metrics(self, _: RequestRecord) -> Response:
        body, media_type = self.monitoring.render(self.models)
        return Response(body, headers={"Content-Type": media_type})

    async def _list(self, _: RequestRecord) -> Response:
        models = []
        for name, model in self.models.items():
            version = model.current
            found = {"name": name, "version": version.number}
            for field in ("tasks", "engine", "precision"):
                found[field] = getattr(version.description, field)
            models.append(found)
        return to_response({"models": models})

    async def _do_task(self, record: RequestRecord) -> Response:
        """Handles `POST /api/models/NAME/TASK`, from the server's web page."""
        names = record.request.path_params
        version = self._find(record, names["name"])
        record.num_texts, record.operation = 1, names["task"]
        body = protocol.parse_body(record.content)
        key = Key(record.operation)
        return to_response(await self._compute(record, version, key, body))

    async def _rest(self, record: RequestRecord) -> Response:
        """Handles a request of TensorFlow Serving's REST protocol."""
        request, path = record.request, record.request.url.path
        match = replies.PATH.fullmatch(path)
        method = match["method"] if match else None
        if not match or request.method != ("POST" if method else "GET"):
            raise RestError(f"Malformed request: {request.method} {path}")
        name, number = replies.parse_path(match)
        if method:
            version = self._find(record, name, number)
            signatures = version.description.signatures

            def parse() -> tuple[str, dict[str, np.ndarray], dict[str, Any]]:
                body = protocol.parse_body(record.content)
                found = protocol.find_signature(body, method, signatures)
                self.limits.check_rows(body)
                inputs = signatures[found].inputs
                return found, protocol.parse_inputs(body, inputs), body

            return await self._answer(record, version, parse, replies.to_body)
        if match["metadata"]:
            record.operation = "metadata"
            version = self._find(record, name, number)
            return to_response(replies.describe(name, version))
        record.operation = "status"
        if name not in self.models:
            raise RestError(f"Could not find any versions of model {name}", 404)
        return to_response(replies.describe_status(self.models[name], number))

    async def _infer(self, record: RequestRecord) -> Response:
        """Handles a request of the Open Inference Protocol."""
        request = record.request
        path = request.path_params.get("path", "")
        if request.method == "GET" and path in ("", "health/live"):
            return to_response(inference.SERVER if not path else {"live": True})
        if request.method == "GET" and path == "health/ready":
            return await self._ready(request)
        match = inference.PATH.fullmatch(path)
        is_call = match is not None and match["method"] == "infer"
        if match is None or is_call != (request.method == "POST"):
            raise RestError(f"Malformed request: {request.method} /v2/{path}")
        name = match["name"]
        number = int(match["version"]) if match["version"] else None
        version = self._find(record, name, number)
        if is_call:
            parse = functools.partial(inference.parse_call, record, version)
            write = functools.partial(inference.to_body, name, version.number)
            return await self._answer(record, version, parse, write)
        record.operation = match["method"] or "metadata"
        if match["method"] == "ready":
            return to_response({"name": name, "ready": True})
        return to_response(inference.describe(name, version))

    def _find(
        self, record: RequestRecord, name: str, number: int | None = None
    ) -> LoadedVersion:
        """Returns the served version of a model, and records the model's name.

        Raises:
            RestError: the model, or its version `number`, is not served.
        """
        if name in self.models:
            record.model = name
            version = self.models[name].current
            if number in (None, version.number):
                return version
        servable = f"Latest({name})"
        if number is not None:
            servable = f"Specific({name}, {number})"
        raise RestError(f"Servable not found for request: {servable}", 404)

    async def _answer(
        self,
        record: RequestRecord,
        version: LoadedVersion,
        parse: Callable[[], tuple[str, dict[str, np.ndarray], dict[str, Any]]],
        write: Callable[[Any, Any], tuple[bytearray, dict[str, str]]],
    ) -> Response:
        """Parses a request, runs its signature and writes the reply.

        `parse` returns the name of the signature, its inputs, and the JSON
        object of the request. `write` converts this object and the outputs to
        the body and the headers of the reply. Both run in threads, so that the
        event loop stays free.
        """
        signature, arrays, request = await asyncio.to_thread(parse)
        record.num_texts = self.limits.check_size(arrays)
        record.operation, about = signature, version.description
        if record.num_texts or signature not in about.batched:
            key = Key(signature, tuple(x.shape[1:] for x in arrays.values()))
            outputs = await self._compute(record, version, key, arrays)
        else:
            specs = about.signatures[signature].outputs.items()
            outputs = {k: np.zeros([0], each.to_numpy()) for k, each in specs}
        check_count("values", sum(value.size for value in outputs.values()))
        body, headers = await asyncio.to_thread(write, request, outputs)
        if len(body) <= _PART:
            return Response(memoryview(body), headers=headers)

        async def parts() -> AsyncIterator[memoryview]:
            for begin in range(0, len(body), _PART):
                yield memoryview(body)[begin : begin + _PART]

        headers["Content-Length"] = str(len(body))
        return StreamingResponse(parts(), headers=headers)

    async def _compute(
        self,
        record: RequestRecord,
        version: LoadedVersion,
        key: Key,
        payload: Any,
    ) -> Any:
        """Computes a call with a version of a model, and returns the result.

        `payload` are the arrays of a signature, or the JSON object of a task.

        Raises:
            Closed: a new version has replaced the version.
            RestError: the call cannot be computed.
        """
        is_long = len(record.content) > self.limits.max_wordpieces
        is_alone = is_long or key.name not in version.description.batched
        future = version.batcher.submit(
            key, payload, record.num_texts, is_alone
        )
        try:
            async with asyncio.timeout(self.limits.timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise RestError(
                f"no answer within {self.limits.timeout_s:g} s. Send less text",
                504,
            ) from None
