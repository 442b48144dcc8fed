"""Holds the models and the limits of the server, which all requests share.

`ServerState.load_models` loads each `ExportToServe`, whose model gets a
`ModelWorker`.
"""

import dataclasses
import os
from collections.abc import Mapping

from serving.engines import EngineOptions
from serving.http.errors import HttpError, find_or_404
from serving.http.model_worker import ModelWorker
from serving.http.serve_config import LimitOptions
from serving.text_model import TextModel


@dataclasses.dataclass(kw_only=True)
class ServerState:
    """The models of the server, its limits, and whether it is ready.

    Attributes:
        exports: {name of the model in requests: its export}.
        limits: limits on requests.
        has_token: whether clients must send a token.
        workers: {name of the model in requests: its ModelWorker} of the models
            that are loaded.
        is_stopping: True to close each connection after its next reply.
    """

    exports: Mapping[str, "ExportToServe"]
    limits: LimitOptions
    has_token: bool
    workers: dict[str, ModelWorker] = dataclasses.field(default_factory=dict)
    is_stopping: bool = False

    def load_models(self) -> None:
        """Loads the model of each export, after which the server is ready."""
        for name, export in self.exports.items():
            self.workers[name] = export.load_worker()

    @property
    def is_ready(self) -> bool:
        """Whether all models are loaded."""
        return len(self.workers) == len(self.exports)

    def check_ready(self) -> None:
        """Raises an HttpError while the models are still loading."""
        if not self.is_ready:
            message = "the models are still loading; try again later"
            raise HttpError(503, message, {"Retry-After": "1"})

    def find_export(self, name: str) -> "ExportToServe":
        """Returns the export of a name in requests, loaded or not.

        Raises:
            HttpError: there is no model of this name.
        """
        return find_or_404("model", name, self.exports)

    def find_worker(self, name: str) -> ModelWorker:
        """Returns what computes the calls to the model of a name in requests.

        Raises:
            HttpError: the models are still loading, or there is no model of
                this name.
        """
        self.check_ready()
        return find_or_404("model", name, self.workers)


@dataclasses.dataclass(frozen=True)
class ExportToServe:
    """The folder of an export, from which the server loads a model.

    Attributes:
        folder: folder of the export.
        engine_options: options that choose and configure the engine.
    """

    folder: str
    engine_options: EngineOptions

    @property
    def version(self) -> str:
        """Number of the export, "1" if its folder has no number."""
        name = os.path.basename(os.path.normpath(self.folder))
        return name if name.isdecimal() else "1"

    def load_worker(self) -> ModelWorker:
        """Loads and warms up the model, and returns its worker.

        Raises:
            ValueError: the model accepts no text.
        """
        text_model = TextModel(
            self.folder,
            self.engine_options.num_threads,
            self.engine_options.engine,
        )
        text_model.warm_up()
        return ModelWorker(text_model)
