"""Loads and calls a server's models, the newest version of each.

A new numbered folder is loaded next to the old version, warmed up, and then
replaces it; the old version finishes its requests.
"""

import gc
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from absl import logging

from serving.models import TextModel, find_versions
from serving.server.batching import Batcher
from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.replies import MAX_VALUES
from serving.tasks.base import TaskOptions

Arrays = Mapping[str, np.ndarray]

# Outputs as long as a call's longest row, and the output that holds row
# lengths. Rows are cut to their own length, so that they do not depend on the
# batch.
_RAGGED = {
    "tag": ("num_words", ("words", "tags", "probabilities")),
    "tag_words": ("num_words", ("words", "tags", "probabilities")),
    "fill_mask": ("num_masks", ("tokens", "probabilities")),
    "embed": ("lengths", ("sequence_output", "tokens")),
    "tokenize": ("lengths", ("tokens",)),
}
# Numbers of answers and WordPieces that the page shows.
_PAGE_OPTIONS = TaskOptions(top_k=8, n_best=8, max_values=MAX_VALUES)
# TensorFlow's errors that are not the request's fault.
_SERVER_ERRORS = (
    tf.errors.InternalError,
    tf.errors.UnknownError,
    tf.errors.DataLossError,
)


class Key(NamedTuple):
    """Requests of equal keys can be computed together.

    Attributes:
        name: a signature; or a task, if there are no shapes.
        shapes: the shape of a row of each input.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...] | None = None


class Call(NamedTuple):
    """A request of a version, checked.

    Attributes:
        key: its key.
        payload: the arrays of a signature, or the dict of a task.
        num_rows: number of rows that it adds to a batch.
        texts: its texts.
    """

    key: Key
    payload: Any
    num_rows: int
    texts: Sequence[bytes]


class LoadedVersion:
    """One version of a model, in memory.

    Args:
        path: folder of its SavedModel.
        number: the version's number.
        limits: Limits.
        on_batch: see Batcher.
    """

    def __init__(
        self,
        path: Path,
        number: int,
        limits: Limits,
        on_batch: Callable[[int, float], None],
    ) -> None:
        self.number = number
        self.limits = limits
        self.model = TextModel(
            path, limits.allow_any_operation, engine="saved_model"
        )
        self.signatures = self.model.engine.signatures
        self.tasks = {
            name: self.model.task(name, _PAGE_OPTIONS)
            for name in self.model.tasks
        }
        self.definitions = self.model.engine.definitions
        self.inputs = {
            name: dict(
                sorted(
                    self.signatures[name].structured_input_signature[1].items()
                )
            )
            for name in self.definitions
        }
        # The first call of each signature over text is slow.
        text = np.array([b"a [MASK]"], object)
        for name, inputs in self.inputs.items():
            if all(each.dtype == tf.string for each in inputs.values()):
                self.call(name, dict.fromkeys(inputs, text))
        self.batcher = Batcher(self.run, limits, on_batch)

    def submit(self, call: Call) -> Future:
        """Queues a request; returns a Future of its result, see `run`.

        Raises:
            RestError: the queue is full or closed, or this version has no such
                task or signature, though an earlier one had.
        """
        key, payload, num_rows, texts = call
        if key.shapes is None and key.name not in self.tasks:
            raise RestError(409, f"a new version does not {key.name}")
        if key.shapes is not None and key.name not in self.inputs:
            raise RestError(409, "a new version has no such signature")
        # A WordPiece has at least one byte, and usually more.
        is_long = sum(map(len, texts)) > self.limits.max_wordpieces
        if not is_long and self._can_batch(key):
            return self.batcher.submit(key, payload, num_rows)

        def compute() -> Any:
            if is_long:
                self.limits.check_wordpieces(self._count_wordpieces(texts))
            return self.run(key, [payload])[0]

        return self.batcher.submit(None, compute, num_rows)

    def _can_batch(self, key: Key) -> bool:
        """Returns whether an answer does not depend on others in a batch."""
        if key.shapes is None or key.name in _RAGGED:
            return True
        # Other outputs may be as long as the longest text of a call.
        specs = self.inputs[key.name].values()
        outputs = self.signatures[key.name].structured_outputs.values()
        return all(spec.dtype != tf.string for spec in specs) or not any(
            None in spec.shape[1:] for spec in outputs
        )

    def call(self, signature: str, arrays: Arrays) -> dict[str, np.ndarray]:
        """Returns a signature's outputs.

        Raises:
            RestError: the model refuses the arrays, or fails on them.
        """
        try:
            return self.model.engine.call(signature, arrays)
        except (tf.errors.ResourceExhaustedError, MemoryError):
            raise RestError(
                503, "out of memory; send fewer or shorter texts"
            ) from None
        except (tf.errors.OpError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:400]
            is_ours = isinstance(error, _SERVER_ERRORS)
            raise RestError(500 if is_ours else 400, reason) from None

    def _count_wordpieces(self, texts: Sequence[bytes]) -> int:
        """Returns the WordPieces of texts; 0 if the export cannot say."""
        if "tokenize" not in self.signatures:
            return 0
        count, nothing = 0, np.array([b""], object)
        # One at a time, since they are padded to the longest.
        for text in texts:
            pair = {"text_a": np.array([text], object), "text_b": nothing}
            count += int(self.call("tokenize", pair)["num_wordpieces"][0])
        return count

    def run(self, key: Key | None, requests: Sequence[Any]) -> Sequence[Any]:
        """Computes the requests of a batch together.

        Args:
            key: the key of all requests; None if they are functions to call.
            requests: the payload of each, see `Call`.

        Returns:
            for each request its rows of the signature's outputs, or the outputs
            that the task reads.

        Raises:
            RestError: the model refuses one of the arrays, or fails on them.
            ValueError: it fails on the requests of a task.
        """
        if key is None:
            return [compute() for compute in requests]
        if key.shapes is None:
            return self.model.compute(self.tasks[key.name], requests)
        if len(requests) == 1:
            return [self.call(key.name, requests[0])]
        joined = {
            name: np.concatenate([arrays[name] for arrays in requests])
            for name in requests[0]
        }
        outputs = self.call(key.name, joined)
        results, begin = [], 0
        counts, ragged = _RAGGED.get(key.name, ("", ()))
        for arrays in requests:
            end = begin + len(next(iter(arrays.values())))
            rows = {name: value[begin:end] for name, value in outputs.items()}
            for name in ragged:
                longest = max(rows[counts], default=0)
                rows[name] = rows[name][:, :longest]
            results.append(rows)
            begin = end
        return results


class ServedModel:
    """A named model: watches its folder and holds its newest version.

    Args:
        name: as clients call it.
        path: folder of a SavedModel, or of numbered versions.
        limits: Limits.
        on_batch: called with the name, the rows and the seconds of a batch.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        limits: Limits,
        on_batch: Callable[[str, int, float], None],
    ) -> None:
        self.name = name
        self.path = path
        self._limits = limits
        self._on_batch = lambda rows, seconds: on_batch(name, rows, seconds)
        self._lock = threading.Lock()
        # {version: its files when it could not be loaded}
        self._failed: dict[int, object] = {}
        # {version: (state, error message)}, for the status.
        self.states: dict[int, tuple[str, str]] = {}
        self.current: LoadedVersion | None = None

    def refresh(self) -> None:
        """Loads the newest version that can be loaded.

        If loading fails, it is tried again when the files change; until then
        the next older version is served.
        """
        with self._lock:
            versions = find_versions(self.path)
            for number in sorted(versions, reverse=True):
                if self.current and self.current.number == number:
                    return
                if self._load(number, versions[number]):
                    break
            else:
                return
            if number < max(versions):
                logging.warning(
                    "%s: version %d is served, as a newer one cannot be loaded",
                    self.name,
                    number,
                )

    def _load(self, number: int, folder: Path) -> bool:
        """Replaces the current version; returns whether that succeeded."""
        files = [
            (file, file.stat().st_size, file.stat().st_mtime_ns)
            for file in sorted(folder.rglob("*"))
        ]
        if self._failed.get(number) == files:
            return False
        self.states[number] = ("LOADING", "")
        try:
            loaded = LoadedVersion(folder, number, self._limits, self._on_batch)
        except Exception as error:
            reason = " ".join(str(error).split())[:400]
            logging.error(
                "%s version %d cannot be loaded: %s", self.name, number, reason
            )
            self.states[number] = ("END", reason)
            self._failed[number] = files
            return False
        before, self.current = self.current, loaded
        self.states[number] = ("AVAILABLE", "")
        logging.info("%s: version %d is served", self.name, number)
        if before:
            self.states[before.number] = ("END", "")
            before.batcher.close()
            before.batcher.join()
            # A loaded model references itself, so only this frees it.
            del before
            gc.collect()
        return True

    def find(self, version: int | None) -> LoadedVersion:
        """Returns the version asked for; None = the newest.

        Raises:
            RestError: it does not exist.
        """
        current = self.current
        if current and version in (None, current.number):
            return current
        raise not_found(self.name, version)


def not_found(name: str, version: int | None) -> RestError:
    """Returns the error for a model or version that is not served."""
    servable = f"Latest({name})"
    if version is not None:
        servable = f"Specific({name}, {version})"
    return RestError(404, f"Servable not found for request: {servable}")
