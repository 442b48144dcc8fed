"""The errors of the server, which clients get as replies.

The client gets the message of a `RequestError` of a text task. Of any other
error the client learns only that it is internal, and the log contains it.
"""

from collections.abc import Mapping
from typing import TypeVar

from absl import logging
from starlette.responses import JSONResponse, Response

from serving.text_tasks.request_fields import RequestError

T = TypeVar("T")


class HttpError(Exception):
    """An error that a client receives, as a status and a message.

    Args:
        status: status of the reply.
        message: what is wrong, and what to do.
        headers: headers of the reply.
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


def to_http_error(error: Exception, place: str = "") -> HttpError:
    """Returns the reply to a request on which `error` was raised.

    Args:
        error: a RequestError is the client's fault. Other errors are logged,
            and the client learns nothing about them.
        place: beginning of the message, such as "text 3: ".
    """
    if isinstance(error, RequestError):
        message = f"{place}{' '.join(str(error).split())[:400]}"
        # A surrogate in the request cannot be encoded.
        return HttpError(400, message.encode(errors="replace").decode())
    logging.error("Failed to compute a request", exc_info=error)
    return HttpError(500, "internal error (see the server's log)")


def create_error_response(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Returns an HTTP response with the body {"error": message}."""
    return JSONResponse({"error": message}, status, headers)


def find_or_404(noun: str, name: str, choices: Mapping[str, T]) -> T:
    """Looks up a name of a request, and raises a 404 error if it is unknown.

    Args:
        noun: what the choices are, for the message.
        name: name in the request.
        choices: {name: choice}.

    Raises:
        HttpError: there is no choice of this name.
    """
    if name in choices:
        return choices[name]
    names = ", ".join(choices)
    raise HttpError(404, f"no {noun} {name!r}; choose from {names}")
