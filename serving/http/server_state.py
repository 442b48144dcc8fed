"""Defines the state that all requests to the server share."""

import dataclasses
from collections.abc import Mapping

from serving.http.errors import HttpError, find_or_404
from serving.http.limit_flags import LimitFlags
from serving.http.served_model import ServedModel


@dataclasses.dataclass(kw_only=True)
class ServerState:
    """The models of the server, its limits, and whether it is ready.

    Attributes:
        models: {name of the model in requests: ServedModel}.
        limits: limits on requests.
        has_token: whether clients must send a token.
        is_ready: True when all models are loaded.
        is_stopping: True to close each connection after its next reply.
    """

    models: Mapping[str, ServedModel]
    limits: LimitFlags
    has_token: bool
    is_ready: bool = False
    is_stopping: bool = False

    def check_ready(self) -> None:
        """Raises an HttpError while the models are still loading."""
        if not self.is_ready:
            message = "the models are still loading; try again later"
            raise HttpError(503, message, {"Retry-After": "1"})

    def find_model(self, name: str) -> ServedModel:
        """Returns the model of a name in requests, loaded or not.

        Raises:
            HttpError: there is no model of this name.
        """
        return find_or_404("model", name, self.models)
