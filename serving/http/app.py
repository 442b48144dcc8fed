"""Answers HTTP requests with exported models.

docs/server.md lists the paths. handlers.py answers the requests to them, and
server_process.py receives the requests.
"""

from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.http.routes import OPEN_PATHS, create_router
from serving.http.serve_config import LimitFlags
from serving.http.server_state import ExportToServe, ServerState
from serving.http.token_check import TokenCheck


class ServerApp:
    """Answers HTTP requests for all models, as an ASGI application.

    `ServerApp.create` creates the application of serve.py.

    Args:
        state: what all requests share.
        entry: application that answers each request.

    Attributes:
        state: what all requests share.
    """

    def __init__(self, state: ServerState, entry: ASGIApp) -> None:
        self.state = state
        self._entry = entry

    @classmethod
    def create(
        cls,
        exports: Mapping[str, ExportToServe],
        token: str = "",
        limits: LimitFlags | None = None,
        origins: Sequence[str] = (),
    ) -> "ServerApp":
        """Creates the application: rules for web pages, token check, paths.

        Args:
            exports: {name of the model in requests: its export}.
            token: bearer token that clients must send, or "" for no token.
            limits: limits on requests, None for the defaults of the flags.
            origins: origins of web pages that may read replies. "*" stands for
                all.
        """
        state = ServerState(
            exports=exports,
            limits=limits or LimitFlags(),
            has_token=bool(token),
        )
        entry: ASGIApp = create_router(state)
        if token:
            entry = TokenCheck(entry, token, OPEN_PATHS)
        if origins:
            entry = CORSMiddleware(
                entry,
                allow_origins=origins,
                allow_methods=["GET", "HEAD", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        return cls(state, entry)

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request, as an ASGI application."""

        async def send_closing(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and self.state.is_stopping:
                headers = MutableHeaders(scope=message)
                headers["Connection"] = "close"
            await send(message)

        # Uvicorn sends no body to HEAD.
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}
        await self._entry(scope, receive, send_closing)
