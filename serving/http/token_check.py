"""Refuses requests that lack the token of the server."""

import hmac
from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from serving.http.errors import create_error_response


class TokenCheck:
    """Passes requests with the token on to an application of ASGI.

    Other requests get status 401.

    Args:
        app: application that answers the requests.
        token: bearer token that clients must send.
        open_paths: paths that need no token.
    """

    def __init__(
        self, app: ASGIApp, token: str, open_paths: Collection[str]
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._open_paths = open_paths

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request, as an ASGI application."""
        app = self._app
        if scope["path"] not in self._open_paths and not self._has_token(scope):
            message = "no or wrong token: send Authorization: Bearer TOKEN"
            header = {"WWW-Authenticate": "Bearer"}
            app = create_error_response(401, message, header)
        await app(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        """Returns whether the request has the token.

        HTTP ignores the case of "Bearer".
        """
        header = dict(scope["headers"]).get(b"authorization", b"")
        scheme, _, token = header.partition(b" ")
        is_same = hmac.compare_digest(token.strip(), self._token)
        return is_same and scheme.lower() == b"bearer"
