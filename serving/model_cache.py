"""Loads a model once in a process, also from pickles."""

import functools
import os
from typing import Any, Literal, NamedTuple, NoReturn, Protocol, TypeVar

from exporting.export_formats import ExportFormat
from serving.engines import Engine


class CachedModel(Protocol):
    """The part of a `serving.TextModel` that the cache uses.

    TextModel imports this module to be pickled, so this module cannot import
    TextModel.
    """

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
    """Tells apart the models that a process loads.

    Attributes:
        path: absolute path of the folder.
        num_threads: number of threads.
        engine: format of the engine, "" to choose one.
        checksum: checksum of the model, "" if it is unknown.
    """

    path: str
    num_threads: int | None
    engine: ExportFormat | Literal[""]
    checksum: str


class ModelCache:
    """Keeps the model that a process loaded last, for its next work.

    A pool pickles each call separately, together with its model, so that
    without the cache each call would load the model. Several threads may load
    models at the same time.
    """

    def __init__(self) -> None:
        # A single assignment replaces the key and the model, so that other
        # threads never see a new key with an old model.
        self._kept: tuple[_ModelKey, CachedModel] | None = None

    def load(
        self,
        text_model_type: type[ModelT],
        path: str,
        num_threads: int | None,
        engine: ExportFormat | None,
        checksum: str = "",
    ) -> ModelT:
        """Returns the model that is kept, or loads another model and keeps it.

        Args:
            text_model_type: class of the model, `TextModel`.
            path: folder of the export.
            num_threads: number of threads.
            engine: format of the engine, None to choose one.
            checksum: checksum of the model, "" if it is unknown. A worker of a
                cluster may have kept the model of an earlier job from the same
                folder. If the folder contains another model, the method
                returns that model.
        """
        asked_key = _ModelKey(
            os.path.abspath(path), num_threads, engine or "", checksum
        )
        kept_key, kept_model = self._kept or (None, None)
        if kept_key == asked_key and isinstance(kept_model, text_model_type):
            return kept_model
        text_model = text_model_type(path, num_threads, engine)
        key = _ModelKey(
            os.path.abspath(text_model.path),
            num_threads,
            text_model.engine.name,
            text_model.checksum,
        )
        self._kept = key, text_model
        return text_model


# The cache of this process.
MODEL_CACHE = ModelCache()


class UnloadableModel:
    """Stands for a model that could not be loaded. Any use raises the error.

    Args:
        text_model_type: class of the model.
        error: why it could not be loaded.
    """

    def __init__(self, text_model_type: type, error: Exception) -> None:
        self._text_model_type = text_model_type
        self._error = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  as the model's
        """Raises the error, or returns a function that raises it."""
        if name.startswith("_"):
            raise AttributeError(name)
        # A pickled method, such as the function of a pool, is looked up while
        # it is unpickled.
        if callable(getattr(self._text_model_type, name, None)):
            return functools.partial(_raise_error, self._error)
        raise self._error


def _raise_error(error: Exception, *_: object, **__: object) -> NoReturn:
    raise error


def unpickle_model(
    text_model_type: type[ModelT],
    path: str,
    num_threads: int | None,
    engine: ExportFormat,
    checksum: str,
) -> ModelT | UnloadableModel:
    """Loads the model of a pickle, or returns an object that raises the error.

    If a worker of a multiprocessing pool raises an error while it unpickles a
    call, the worker ends, and the pool waits forever. So the error is raised
    only when the call uses the model.

    Args:
        text_model_type: class of the model.
        path: absolute path of the export.
        num_threads: number of threads.
        engine: format of the engine.
        checksum: checksum of the model that was pickled.
    """
    try:
        text_model = MODEL_CACHE.load(
            text_model_type, path, num_threads, engine, checksum
        )
        if text_model.checksum != checksum:
            raise ValueError(
                f"{path} contains another model than when serving.load() "
                "read it. Load the folder again, and then start the workers"
            )
        return text_model
    except Exception as error:
        return UnloadableModel(text_model_type, error)
