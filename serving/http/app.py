"""The ASGI application of the server, through which each request passes.

timed_server.py receives the requests. The application checks their token, and
routes.py finds the handler of their path.
"""

import hmac
from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.http.errors import create_error_response
from serving.http.routes import OPEN_PATHS, create_router
from serving.http.serve_config import LimitOptions
from serving.http.server_state import ExportToServe, ServerState


class ServerApp:
    """Replies to HTTP requests for all models, as an ASGI application.

    `ServerApp.create` creates the application of serve.py.

    Args:
        state: what all requests share.
        app: application that gets the requests.

    Attributes:
        state: what all requests share.
    """

    def __init__(self, state: ServerState, app: ASGIApp) -> None:
        self.state = state
        self._app = app

    @classmethod
    def create(
        cls,
        exports: Mapping[str, ExportToServe],
        token: str = "",
        limits: LimitOptions | None = None,
        allowed_origins: Sequence[str] = (),
    ) -> "ServerApp":
        """Creates the application: rules for web pages, token check, paths.

        Args:
            exports: {name of the model in requests: its export}.
            token: bearer token that clients must send, or "" for no token.
            limits: limits on requests, None for the defaults of the flags.
            allowed_origins: origins of web pages that may read replies. "*"
                stands for all.
        """
        state = ServerState(
            exports=exports,
            limits=limits or LimitOptions(),
            has_token=bool(token),
        )
        app: ASGIApp = create_router(state)
        if token:
            app = TokenCheck(app, token)
        if allowed_origins:
            app = CORSMiddleware(
                app,
                allow_origins=allowed_origins,
                allow_methods=["GET", "HEAD", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        return cls(state, app)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Replies to a request. While the server stops, closes connections."""

        async def send_closing(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and self.state.is_stopping:
                headers = MutableHeaders(scope=message)
                headers["Connection"] = "close"
            await send(message)

        # Uvicorn sends no body to HEAD.
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send_closing)


class TokenCheck:
    """Lets only requests with the token through to an ASGI application.

    Other requests get status 401, unless they ask for the page or the health.

    Args:
        app: application that gets the requests.
        token: bearer token that clients must send.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Passes a request on, or replies with status 401."""
        app = self._app
        if scope["path"] not in OPEN_PATHS and not self._has_token(scope):
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
