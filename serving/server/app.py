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
from re import Match
from typing import Any

import numpy as np
from absl import logging
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from serving.server import inference, protocol, replies
from serving.server.batching import Closed
from serving.server.limits import Limits, check_count
from serving.server.monitoring import Monitoring, RequestRecord
from serving.server.protocol import RestError
from serving.server.signatures import Key
from serving.server.versions import ServedModel, not_found

PAGE = Path(__file__).parent / "page"
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
        self._token = token
        self._poll = poll
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/page/{file}", self._page),
                Route("/healthz", self._health),
                Route("/readyz", self._ready),
                *(
                    Route(path, self._guard(self._metrics))
                    for path in ("/metrics", "/monitoring/prometheus/metrics")
                ),
                Route("/api/models", self._guard(self._list)),
                Route(
                    "/api/models/{name}/{task}",
                    self._guard(self._do_task),
                    methods=["POST"],
                ),
                Route(
                    "/v1/{path:path}",
                    self._guard(self._rest),
                    methods=["GET", "POST", "PUT", "DELETE", "PATCH"],
                ),
                *(
                    Route(
                        path, self._guard(self._infer), methods=["GET", "POST"]
                    )
                    for path in ("/v2", "/v2/{path:path}")
                ),
            ],
            lifespan=self._live,
        )

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
        try:
            yield
        finally:
            task.cancel()

    def _guard(self, answer: Any) -> Any:
        """Adds the token check, request log and error replies to a route."""

        async def guarded(request: Request) -> Response:
            with self.monitoring.observe(request) as record:
                headers: Mapping[str, str] | None = None
                try:
                    sent = request.headers.get("authorization", "").encode()
                    expected = f"Bearer {self._token}".encode()
                    if self._token and not hmac.compare_digest(sent, expected):
                        raise RestError(
                            "wrong or no token: send the header "
                            "Authorization: Bearer ...",
                            401,
                            {"WWW-Authenticate": "Bearer"},
                        )
                    response = await answer(request, record)
                    record.status = response.status_code
                    return response
                except RestError as error:
                    record.status, record.error = error.status, str(error)
                    headers = error.headers
                except RecursionError:
                    record.status, record.error = 400, "JSON nested too deeply"
                except ClientDisconnect:
                    record.status, record.error = 499, "client disconnected"
                except Exception:
                    logging.exception("Failed to handle a request")
                    record.error = "internal error (see the server's log)"
                return to_response(
                    {"error": record.error}, record.status, headers
                )

        return guarded

    async def _page(self, request: Request) -> Response:
        # Look up the name in the list of the folder's files, so that a client
        # cannot open files outside the folder.
        files = {file.name: file for file in PAGE.iterdir() if file.is_file()}
        name = request.path_params.get("file", "index.html")
        if name not in files:
            return Response("not found", 404, media_type="text/plain")
        return FileResponse(files[name], headers=_PAGE_HEADERS)

    async def _health(self, _: Request) -> Response:
        return to_response({"status": "alive"})

    async def _ready(self, _: Request) -> Response:
        if self.is_ending:
            return to_response({"status": "stopping"}, 503)
        missing = [
            name for name, model in self.models.items() if not model.current
        ]
        if missing:
            return to_response({"status": "loading", "models": missing}, 503)
        return to_response({"status": "ready"})

    async def _metrics(self, _: Request, __: Any) -> Response:
        body, media_type = self.monitoring.render(self.models)
        return Response(body, headers={"Content-Type": media_type})

    async def _list(self, _: Request, __: Any) -> Response:
        models = []
        for name, model in self.models.items():
            if version := model.current:
                found = {"name": name, "version": version.number}
                for field in ("tasks", "engine", "precision"):
                    found[field] = getattr(version.description, field)
                models.append(found)
        return to_response({"models": models})

    async def _do_task(
        self, request: Request, record: RequestRecord
    ) -> Response:
        """Handles `POST /api/models/NAME/TASK`, from the server's web page."""
        model = self._find(request.path_params["name"], record)
        record.operation = name = request.path_params["task"]
        content = await self.limits.read_body(request)
        record.num_texts = 1
        body = protocol.parse_body(content)
        reply = self._compute(model, None, Key(name), body, 1, len(content))
        return to_response(await reply)

    async def _rest(self, request: Request, record: RequestRecord) -> Response:
        """Handles a request of TensorFlow Serving's REST protocol."""
        path = request.url.path
        if request.method == "POST" and (
            match := replies.CALL_PATH.fullmatch(path)
        ):
            return await self._predict(request, match, record)
        match = replies.STATUS_PATH.fullmatch(path)
        if request.method != "GET" or not match:
            raise RestError(f"Malformed request: {request.method} {path}")
        name, number = replies.parse_path(match)
        if match["metadata"]:
            record.operation = "metadata"
            version = self._find(name, record, number).find(number)
            return to_response(
                replies.describe_metadata(
                    name, version.number, version.description.signatures
                )
            )
        record.operation = "status"
        if name not in self.models:
            raise RestError(f"Could not find any versions of model {name}", 404)
        states = dict(self.models[name].states)
        return to_response(replies.describe_status(name, states, number))

    async def _predict(
        self, request: Request, match: Match, record: RequestRecord
    ) -> Response:
        """Handles `POST /v1/models/NAME[/versions/N]:predict`."""
        name, number = replies.parse_path(match)
        content = await self.limits.read_body(request)
        record.operation = method = match["method"].lower()
        model = self._find(name, record, number)
        signatures = model.find(number).description.signatures
        body = protocol.parse_body(content)
        signature = protocol.signature_name(body)
        if signature not in signatures:
            raise RestError(
                f'Serving signature name: "{signature}" not found in '
                "signature def"
            )
        if method != "predict":
            raise RestError(
                f"Expected {method} signature method_name to be "
                f"tensorflow/serving/{method}. Was: {replies.METHOD}"
            )
        record.operation = signature
        self.limits.check_rows(body)
        inputs = signatures[signature].inputs
        return await self._answer(
            *(model, number, Key(signature), len(content), record),
            functools.partial(protocol.parse_inputs, body, inputs),
            functools.partial(replies.to_body, body),
        )

    async def _infer(self, request: Request, record: RequestRecord) -> Response:
        """Handles a request of the Open Inference Protocol."""
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
        # Read the complete body before raising an error, so that the client can
        # reuse the connection.
        content = await self.limits.read_body(request)
        model = self._find(name, record, number)
        version = model.find(number)
        record.operation = match["method"] or "metadata"
        if match["method"] == "ready":
            return to_response({"name": name, "ready": True})
        if not is_call:
            return to_response(
                inference.describe(name, version.number, version.description)
            )
        signatures = version.description.signatures
        length = request.headers.get(inference.LENGTH_HEADER)
        body, data, key = inference.parse_request(content, length, signatures)
        record.operation = key
        inputs = signatures[key].inputs
        return await self._answer(
            *(model, number, Key(key), len(content), record),
            functools.partial(inference.parse_inputs, body, data, inputs),
            functools.partial(inference.to_body, name, version.number, body),
        )

    async def _answer(
        self,
        model: ServedModel,
        number: int | None,
        key: Key,
        num_bytes: int,
        record: RequestRecord,
        parse: Callable[[], dict[str, np.ndarray]],
        write: Callable[[Any], tuple[bytearray, dict[str, str]]],
    ) -> Response:
        """Parses a request's inputs, runs its signature and writes the reply.

        `parse` returns the inputs, and `write` the body and the headers of the
        reply. Both run in threads, so that the event loop stays free.
        """
        arrays = await asyncio.to_thread(parse)
        record.num_texts = num_rows = self.limits.check_size(arrays)
        key = key._replace(shapes=tuple(x.shape[1:] for x in arrays.values()))
        outputs = await self._compute(
            model, number, key, arrays, num_rows, num_bytes
        )
        check_count("values", sum(value.size for value in outputs.values()))
        body, headers = await asyncio.to_thread(write, outputs)
        if len(body) <= _PART:
            return Response(memoryview(body), headers=headers)

        async def parts() -> AsyncIterator[memoryview]:
            for begin in range(0, len(body), _PART):
                yield memoryview(body)[begin : begin + _PART]

        headers["Content-Length"] = str(len(body))
        return StreamingResponse(parts(), headers=headers)

    def _find(
        self, name: str, record: RequestRecord, version: int | None = None
    ) -> ServedModel:
        if name not in self.models:
            raise not_found(name, version)
        record.model = name
        return self.models[name]

    async def _compute(
        self,
        model: ServedModel,
        number: int | None,
        key: Key,
        payload: Any,
        num_rows: int,
        num_bytes: int,
    ) -> Any:
        """Computes a call with a version of a model, and returns the result.

        `payload` are the arrays of a signature, or the JSON object of a task.
        `num_bytes` is the size of the request's body.
        """
        is_long = num_bytes > self.limits.max_wordpieces
        future = None
        while not future:
            version = model.find(number)
            description = version.description
            is_task = key.shapes is None
            if not is_task and key.name not in description.signatures:
                raise RestError(
                    "the model's new version lacks this signature. Use another "
                    "signature",
                    409,
                )
            is_alone = is_long or key.name not in description.batched
            try:
                future = version.batcher.submit(
                    key, payload, num_rows, is_alone
                )
            except Closed:
                # Try again with the new version. If this version is still the
                # current version, the server is shutting down.
                if version is model.current:
                    raise
        try:
            async with asyncio.timeout(self.limits.timeout_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise RestError(
                f"no answer within {self.limits.timeout_s:g} s. Send less text",
                504,
            ) from None
