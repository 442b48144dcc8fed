"""Answers requests that no handler answers, and turns errors into replies."""

from collections.abc import Collection, Sequence

from fastapi import Request as HttpRequest
from starlette.exceptions import HTTPException
from starlette.responses import Response

from serving.http.errors import HttpError, create_error_response
from serving.http.handlers import PREDICT_SUFFIX


class ErrorHandlers:
    """Answers requests with an error that FastAPI catches.

    Args:
        model_names: names of the models in requests.
        paths: the paths of the server, as messages show them.
    """

    def __init__(
        self, model_names: Collection[str], paths: Sequence[str]
    ) -> None:
        self._model_names = model_names
        self._paths = paths

    async def answer_failed_request(
        self, request: HttpRequest, error: HttpError
    ) -> Response:
        """Answers a request with the error that its handler raised."""
        return create_error_response(error.status, error.message, error.headers)

    async def answer_unknown_path(
        self, request: HttpRequest, error: HTTPException
    ) -> Response:
        """Answers a request to a path that does not exist."""
        message = (
            f"there is no such path; the paths are {', '.join(self._paths)}"
        )
        return create_error_response(404, message)

    async def answer_wrong_method(
        self, request: HttpRequest, error: HTTPException
    ) -> Response:
        """Answers a request to a path that has other methods."""
        name = request.path_params.get("name", "")
        allowed = (error.headers or {})["Allow"]
        # The path of a status also matches NAME:predict, and NAME:WORD, which
        # is no path.
        if name.endswith(PREDICT_SUFFIX) and name not in self._model_names:
            name = name.removesuffix(PREDICT_SUFFIX)
            allowed = "POST"
        if name not in ("", *self._model_names):
            return await self.answer_unknown_path(request, error)
        if allowed == "GET":
            allowed = "GET, HEAD"
        return create_error_response(405, f"use {allowed}", {"Allow": allowed})
