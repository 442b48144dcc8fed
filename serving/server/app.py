"""The routes of the server, as an ASGI application (Starlette).

Starlette, not FastAPI: that adds validation of declared bodies, but TensorFlow
Serving's bodies depend on the model, and its errors have their own form.
"""

import asyncio
import contextlib
import functools
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from absl import logging
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from serving.server import paths, protocol, replies
from serving.server.batching import Closed, QueueFull
from serving.server.errors import RestError
from serving.server.limits import Limits
from serving.server.monitoring import Monitoring
from serving.server.versions import (
    LoadedVersion,
    ServedModel,
    TaskKey,
    not_found,
)
from serving.text_task import TooLarge

PAGE = Path(__file__).parent / "page"
# The page may load only its own files.
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


class Server:
    """Answers requests about models.

    Args:
        models: {name: ServedModel}.
        limits: Limits.
        monitoring: Monitoring.
        poll: seconds between looks for new versions.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        limits: Limits,
        monitoring: Monitoring,
        poll: float = 1.0,
    ) -> None:
        self.models = models
        self.limits = limits
        self.monitoring = monitoring
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
            ],
            lifespan=self._live,
        )

    @contextlib.asynccontextmanager
    async def _live(self, _: Starlette) -> AsyncIterator[None]:
        """Checks for new versions while the server runs."""

        async def poll() -> None:
            while True:
                await asyncio.sleep(self._poll)
                for model in self.models.values():
                    try:
                        await asyncio.to_thread(model.refresh)
                    except OSError as error:
                        logging.warning("%s: %s", model.path, error)

        task = asyncio.create_task(poll())
        try:
            yield
        finally:
            task.cancel()

    def _guard(self, answer: Any) -> Any:
        """Adds the token check, logging and errors to a route."""

        async def guarded(request: Request) -> Response:
            with self.monitoring.observe(request) as seen:
                try:
                    self._check_token(request)
                    response = await answer(request, seen)
                except RestError as error:
                    seen.error = error.message
                    response = to_json(
                        {"error": error.message}, error.status, error.headers
                    )
                except RecursionError:
                    seen.error = "nested too deeply"
                    response = to_json({"error": seen.error}, 400)
                except ClientDisconnect:
                    seen.error = "the client went away"
                    response = to_json({"error": seen.error}, 499)
                except Exception:
                    logging.exception("a request failed")
                    seen.error = "internal error; the server's log says more"
                    response = to_json({"error": seen.error}, 500)
                seen.status = response.status_code
            return response

        return guarded

    def _check_token(self, request: Request) -> None:
        given = request.headers.get("authorization", "")
        expected = f"Bearer {self.limits.token}"
        if self.limits.token and not hmac.compare_digest(
            given.encode(), expected.encode()
        ):
            raise RestError(
                401,
                "give the server's token: Authorization: Bearer ...",
                {"WWW-Authenticate": "Bearer"},
            )

    async def _page(self, request: Request) -> Response:
        # A table of files, so that a request's path is never opened.
        name = request.path_params.get("file", "index.html")
        if name not in page_files():
            return Response("not found", 404, media_type="text/plain")
        return FileResponse(PAGE / name, headers=_PAGE_HEADERS)

    async def _health(self, _: Request) -> Response:
        return to_json({"status": "alive"})

    async def _ready(self, _: Request) -> Response:
        missing = [
            name for name, model in self.models.items() if not model.current
        ]
        if missing:
            return to_json({"status": "loading", "models": missing}, 503)
        return to_json({"status": "ready"})

    async def _metrics(self, _: Request, __: Any) -> Response:
        body, media_type = self.monitoring.render(self.models)
        return Response(body, headers={"Content-Type": media_type})

    async def _list(self, _: Request, __: Any) -> Response:
        return to_json(
            {
                "models": [
                    {
                        "name": name,
                        "version": version.number,
                        "tasks": version.model.tasks,
                    }
                    for name, model in self.models.items()
                    if (version := model.current)
                ]
            }
        )

    async def _do_task(self, request: Request, seen: Any) -> Response:
        """Answers the page, as predict.py does."""
        model = self._find(request.path_params["name"], seen)
        seen.what = name = request.path_params["task"]
        version = model.find(None)
        if name not in version.tasks:
            raise RestError(
                404, f"{model.name} does {', '.join(version.tasks)}"
            )
        asked = protocol.parse_body(await self.limits.read_body(request))
        task = version.tasks[name]
        try:
            task.check(asked)
        except ValueError as error:
            raise RestError(400, str(error)) from None
        texts = [text.encode() for text in task.texts_of(asked)]
        seen.num_texts = 1

        def submit(version: LoadedVersion) -> Future:
            if name not in version.tasks:
                raise RestError(409, f"a new version does not {name}")
            task = version.tasks[name]
            if self.limits.may_be_long(texts):
                compute = functools.partial(
                    self.limits.compute_if_short,
                    version,
                    texts,
                    lambda: task.answer([asked])[0],
                )
                return version.batcher.submit(None, compute, 1)
            return version.batcher.submit(TaskKey(name), asked, 1)

        answer = await self._compute(model, None, submit)
        return await asyncio.to_thread(to_json, answer)

    async def _rest(self, request: Request, seen: Any) -> Response:
        """Answers by TensorFlow Serving's protocol."""
        path = request.url.path
        if request.method == "POST" and (found := paths.ASKED.fullmatch(path)):
            return await self._predict(request, found, seen)
        if request.method == "GET" and (
            found := paths.LOOKED_AT.fullmatch(path)
        ):
            return self._describe(found, seen)
        raise RestError(400, f"Malformed request: {request.method} {path}")

    def _describe(self, found: paths.Match, seen: Any) -> Response:
        """Answers `GET /v1/models/NAME[/versions/N][/metadata]`."""
        name, number = paths.parse(found)
        if found["metadata"]:
            seen.what = "metadata"
            version = self._find(name, seen, number).find(number)
            return to_json(
                replies.describe_metadata(
                    name, version.number, version.definitions
                )
            )
        seen.what = "status"
        if name not in self.models:
            raise RestError(404, f"Could not find any versions of model {name}")
        return to_json(self.models[name].describe_status(number))

    async def _predict(
        self, request: Request, found: paths.Match, seen: Any
    ) -> Response:
        """Answers `POST /v1/models/NAME[/versions/N]:predict`."""
        name, number = paths.parse(found)
        body = await self.limits.read_body(request)
        seen.what = method = found["method"].lower()
        model = self._find(name, seen, number)
        version = model.find(number)
        asked = protocol.parse_body(body)
        signature = protocol.signature_name(asked)
        if signature not in version.inputs:
            raise RestError(
                400,
                f'Serving signature name: "{signature}" not found in '
                "signature def",
            )
        if method != "predict":
            raise RestError(
                400,
                f"Expected {method} signature method_name to be "
                f"tensorflow/serving/{method}. Was: "
                f"{version.definitions[signature].method_name}",
            )
        seen.what = signature
        self.limits.check_rows(asked)
        # In a thread, so that others are answered while a large request is
        # read.
        arrays = await asyncio.to_thread(
            protocol.parse_inputs, asked, version.inputs[signature]
        )
        num_rows, texts = self.limits.check_size(arrays)
        seen.num_texts = num_rows

        def submit(version: LoadedVersion) -> Future:
            if signature not in version.inputs:
                raise RestError(409, "a new version has no such signature")
            compute = functools.partial(version.call_alone, signature, arrays)
            if self.limits.may_be_long(texts):
                compute = functools.partial(
                    self.limits.compute_if_short, version, texts, compute
                )
                return version.batcher.submit(None, compute, num_rows)
            key = version.key_of(signature, arrays)
            payload = compute if key is None else arrays
            return version.batcher.submit(key, payload, num_rows)

        outputs = await self._compute(model, number, submit)
        return await asyncio.to_thread(
            lambda: to_json(replies.to_reply(asked, outputs))
        )

    def _find(
        self, name: str, seen: Any, version: int | None = None
    ) -> ServedModel:
        if name not in self.models:
            raise not_found(name, version)
        seen.model = name
        return self.models[name]

    async def _compute(
        self, model: ServedModel, number: int | None, submit: Any
    ) -> Any:
        """Queues a request and returns its result.

        Raises:
            RestError: the queue is full, the answer takes too long, or the
                model refuses the request.
        """
        try:
            try:
                future = submit(model.find(number))
            except Closed:
                # A new version has just replaced it.
                future = submit(model.find(number))
        except QueueFull:
            raise RestError(
                429,
                "the server has as many requests waiting as it takes; try "
                "again later",
                {"Retry-After": "1"},
            ) from None
        except Closed:
            raise RestError(503, "the server is shutting down") from None
        try:
            async with asyncio.timeout(self.limits.timeout):
                result = await asyncio.wrap_future(future)
        except TimeoutError:
            raise RestError(
                504, f"no answer within {self.limits.timeout:g} s"
            ) from None
        except TooLarge as error:
            raise RestError(413, str(error)) from None
        except ValueError as error:
            raise RestError(400, str(error)) from None
        return result


@functools.cache
def page_files() -> frozenset[str]:
    """Returns the names of the page's files."""
    return frozenset(file.name for file in PAGE.iterdir() if file.is_file())


def to_json(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns a response as TensorFlow Serving's, NaN as it is."""
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers, "application/json")
