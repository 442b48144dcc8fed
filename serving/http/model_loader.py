"""Loads the models of the server, while it already listens."""

import json
import shlex
import threading
import urllib.parse

from absl import logging

from serving.http.server_state import ServerState
from serving.http.uvicorn_server import UvicornServer


class ModelLoader(threading.Thread):
    """Loads the models while the server already answers /healthz.

    Args:
        state: state of the server, whose models are loaded.
        server: server to stop if a model cannot be loaded.
        address: URL of the server, for the log.

    Attributes:
        error: why a model cannot be loaded, or None.
    """

    def __init__(
        self, state: ServerState, server: UvicornServer, address: str
    ) -> None:
        super().__init__(daemon=True)
        self._state = state
        self._server = server
        self._address = address
        self.error: Exception | None = None

    def run(self) -> None:
        """Loads the models, and logs a request to try. Or stops the server."""
        try:
            self._state.load_models()
            command = _format_request(self._state, self._address)
            logging.info("ready: %s\n  %s", self._address, command)
        except Exception as error:
            self.error = error
            self._server.stop()


def _format_request(state: ServerState, address: str) -> str:
    """Returns a command that asks the first model."""
    name, served_model = next(iter(state.models.items()))
    text_task = served_model.main_text_task
    text = "A [MASK]." if text_task.predicts_words else "A text."
    body = shlex.quote(json.dumps(dict.fromkeys(text_task.field_names, text)))
    url = f"{address}/api/models/{urllib.parse.quote(name)}/{text_task.name}"
    curl = "curl"
    if state.has_token:
        curl = "curl -H 'Authorization: Bearer TOKEN'"
    return f"{curl} -d {body} {url}"
