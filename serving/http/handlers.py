"""Answers the requests to each path of the server."""

from collections.abc import Sequence
from pathlib import Path

from fastapi import Request as HttpRequest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from serving.http.errors import (
    HttpError,
    find_or_404,
    http_errors_of_requests,
)
from serving.http.json_bodies import (
    create_body,
    create_predict_body,
    parse_body,
    parse_predict_body,
)
from serving.http.queued_call import QueuedCall
from serving.http.request_limits import RequestLimits
from serving.http.served_model import ServedModel
from serving.http.server_state import ServerState
from serving.http.waiting import wait_for_replies
from serving.text_tasks.text_task import AnyTextTask

PAGE_FOLDER = Path(__file__).parent / "page"
PREDICT_SUFFIX = ":predict"


class Handlers:
    """Answers requests, with a method for each path of routes.py.

    openapi.json contains the docstrings of the methods, and the names of their
    parameters, which are the parts of a path.

    Args:
        state: models of the server, and whether it is ready.
    """

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._request_limits = RequestLimits(state.limits)
        self._files = StaticFiles(directory=PAGE_FOLDER)

    async def answer_page_request(self, request: HttpRequest) -> Response:
        """Returns a file of the page that browsers show."""
        name = request.url.path[1:] or "index.html"
        return await self._files.get_response(name, request.scope)

    async def answer_health_request(self) -> Response:
        """Returns status 200 once every model is loaded, and 503 otherwise."""
        if self._state.is_ready:
            return JSONResponse({"status": "ready"})
        raise HttpError(503, "loading")

    async def answer_models_request(self) -> Response:
        """Returns {"models": list of objects}, which describe the models."""
        self._state.check_ready()
        models = [
            {"name": name, **served_model.description}
            for name, served_model in self._state.models.items()
        ]
        return JSONResponse({"models": models})

    async def answer_status_request(self, name: str) -> Response:
        """Returns {"model_version_status": [...]}, as TensorFlow Serving."""
        if name not in self._state.exports and name.endswith(PREDICT_SUFFIX):
            raise HTTPException(405, "use POST", {"Allow": "POST"})
        status = {
            "version": self._state.find_export(name).version,
            "state": "AVAILABLE" if self._state.is_ready else "LOADING",
            "status": {"error_code": "OK", "error_message": ""},
        }
        return JSONResponse({"model_version_status": [status]})

    async def answer_task_request(
        self, name: str, task: str, request: HttpRequest
    ) -> Response:
        """Answers {"text": "..."}, or several texts, by a task of a model.

        The fields depend on the task, as in predict.py. For several texts, send
        a list of objects, or a list of texts in a field.
        """
        served_model = self._state.find_model(name)
        text_task = find_or_404(
            f"task of {name}", task, served_model.text_task_of_name
        )
        body = await self._request_limits.read_body(request)
        with http_errors_of_requests():
            parsed = parse_body(text_task, body)
        replies = await self._answer_requests(
            request, served_model, text_task, parsed.requests
        )
        return _create_response(create_body(replies, is_list=parsed.is_list))

    async def answer_predict_request(
        self, name: str, request: HttpRequest
    ) -> Response:
        """Answers {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        served_model = self._state.find_model(name)
        text_task = served_model.main_text_task
        body = await self._request_limits.read_body(request)
        with http_errors_of_requests():
            requests = parse_predict_body(text_task, body)
        replies = await self._answer_requests(
            request, served_model, text_task, requests
        )
        return _create_response(create_predict_body(replies))

    async def _answer_requests(
        self,
        http_request: HttpRequest,
        served_model: ServedModel,
        text_task: AnyTextTask,
        requests: Sequence[object],
    ) -> list[bytes]:
        """Returns the JSON text of the reply to each request of a body.

        Raises:
            HttpError: a request is wrong or too large, or its client is gone or
                late.
        """
        self._request_limits.check_num_texts(text_task, requests)
        call = QueuedCall.create(text_task, requests)
        return await wait_for_replies(
            self._answer_call(served_model, call),
            http_request,
            self._state.limits.timeout_s,
            "send less text"
            if call.is_long
            else "the server is busy; try again later",
        )

    async def _answer_call(
        self, served_model: ServedModel, call: QueuedCall
    ) -> list[bytes]:
        """Returns the replies to a call that is not too long."""
        await self._request_limits.check_length(
            served_model.text_model.loaded_model, call
        )
        return await served_model.submit(call)


def _create_response(body: bytes) -> Response:
    return Response(body, media_type="application/json")
