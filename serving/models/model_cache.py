"""Loads a model once in a process, also from pickles."""

import functools
import os
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    Protocol,
    TypeVar,
)

from serving.engines import Engine
from serving.engines.runtimes import ExportFormat


class CachedModel(Protocol):
    """The part of a `serving.TextModel` that a cache uses."""

    path: str
    engine: Engine
    checksum: str

    def __init__(
        self,
        path: str,
        num_threads: int | None = None,
        engine: ExportFormat | None = None,
    ) -> None:
        """Loads the model of a folder."""


ModelT = TypeVar("ModelT", bound=CachedModel)


class _ModelKey(NamedTuple):
    """What tells apart the models that a process loads.

    Attributes:
        path: absolute path of the folder.
        num_threads: number of threads.
        engine: name of the runtime, "" to choose one.
        checksum: checksum of the model, "" if it is unknown.
    """

    path: str
    num_threads: int | None
    engine: ExportFormat | Literal[""]
    checksum: str


class UnloadableModel:
    """Stands for a model that a process could not load, and says why.

    Args:
        model_class: class of the model.
        error: why it could not be loaded.
    """

    def __init__(self, model_class: type, error: Exception) -> None:
        self._model_class = model_class
        self._error = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  as the model's
        """Raises the error, or returns a function that raises it."""
        if name.startswith("_"):
            raise AttributeError(name)
        # A pickled method, such as the function of a pool, is looked up while
        # it is unpickled.
        if callable(getattr(self._model_class, name, None)):
            return functools.partial(_raise_error, self._error)
        raise self._error


def _raise_error(error: Exception, *_: object, **__: object) -> NoReturn:
    raise error


class ModelCache(Generic[ModelT]):
    """Keeps the model that a process loaded last, for its next work.

    Each call that a pool makes is pickled by itself, with its model. Several
    threads may load models at the same time.

    Args:
        model_class: class of the models.
    """

    def __init__(self, model_class: type[ModelT]) -> None:
        self._model_class = model_class
        # An assignment replaces both at once, for the sake of other threads.
        self._kept: tuple[_ModelKey, ModelT] | None = None

    def load(
        self,
        path: str,
        num_threads: int | None,
        engine: ExportFormat | None,
        checksum: str = "",
    ) -> ModelT:
        """Returns the model that is kept, or loads another model and keeps it.

        Args:
            path: folder of the export.
            num_threads: number of threads.
            engine: name of the runtime, None to choose one.
            checksum: checksum of the model, if it is known. A worker of a
                cluster may have kept the model of an earlier job from the same
                folder. If the folder contains another model, the method returns
                that model.
        """
        kept = self._kept
        absolute = os.path.abspath(path)
        if kept and kept[0] == (absolute, num_threads, engine or "", checksum):
            return kept[1]
        text_model = self._model_class(path, num_threads, engine)
        key = _ModelKey(
            os.path.abspath(text_model.path),
            num_threads,
            text_model.engine.name,
            text_model.checksum,
        )
        self._kept = key, text_model
        return text_model

    def unpickle(
        self,
        path: str,
        num_threads: int | None,
        engine: ExportFormat,
        checksum: str,
    ) -> ModelT | UnloadableModel:
        """Loads the model of a pickle, or returns what raises the error later.

        An error while a worker unpickles a call ends the worker of a pool of
        multiprocessing, which then waits forever.
        """
        try:
            text_model = self.load(path, num_threads, engine, checksum)
            if text_model.checksum != checksum:
                raise ValueError(
                    f"{path} contains another model than when serving.load() "
                    "read it. Load the folder again, and then start the workers"
                )
            return text_model
        except Exception as error:
            return UnloadableModel(self._model_class, error)
