"""Answers the requests to each path of the server."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fastapi import Request as HttpRequest
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from serving.http.errors import HttpError, find_or_404, to_http_error
from serving.http.queued_call import QueuedCall
from serving.http.reply_bodies import create_body, create_predict_body
from serving.http.request_bodies import parse_body, parse_predict_body
from serving.http.request_limits import RequestLimits
from serving.http.served_model import ServedModel
from serving.http.server_state import ServerState
from serving.http.waiting import wait_for_replies
from serving.text_tasks.request_lists import RequestList
from serving.text_tasks.text_task import AnyTextTask

PAGE_FOLDER = Path(__file__).parent / "page"
PREDICT_SUFFIX = ":predict"


class _BodyReplies(NamedTuple):
    """The replies to the requests of a body.

    Attributes:
        replies: the JSON text of each reply.
        is_list: whether the client asked for a list of replies.
    """

    replies: list[bytes]
    is_list: bool


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
        body_replies = await self._answer_body(
            request, served_model, text_task, parse_body
        )
        return _create_response(
            create_body(body_replies.replies, is_list=body_replies.is_list)
        )

    async def answer_predict_request(
        self, name: str, request: HttpRequest
    ) -> Response:
        """Answers {"instances": [...]}, texts or objects, by the main task.

        The reply is {"predictions": list of the replies of that task}.
        """
        served_model = self._state.find_model(name)
        body_replies = await self._answer_body(
            request,
            served_model,
            served_model.main_text_task,
            parse_predict_body,
        )
        return _create_response(create_predict_body(body_replies.replies))

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
        call = self._request_limits.create_call(text_task, parsed.requests)
        replies = await wait_for_replies(
            self._answer_call(served_model, call),
            request,
            self._state.limits.timeout_s,
            "send less text"
            if call.is_long
            else "the server is busy; try again later",
        )
        return _BodyReplies(replies, parsed.is_list)

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
