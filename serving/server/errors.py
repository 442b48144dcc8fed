"""Errors of requests."""

from collections.abc import Mapping


class RestError(Exception):
    """An error reply: {"error": message} and a status.

    Args:
        status: of HTTP.
        message: what is wrong.
        headers: further headers of the reply.
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
        self.headers = dict(headers or {})
