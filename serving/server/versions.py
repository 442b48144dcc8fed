"""Loads and calls a server's models, the newest version of each.

A new numbered folder is loaded next to the old version, warmed up, and then
replaces it; the old version finishes its requests.
"""

import dataclasses
import gc
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging
from tensorflow.core.protobuf import saved_model_pb2

from serving.models import TextModel, find_versions
from serving.server.batching import Batcher, BatchingOptions
from serving.server.errors import RestError
from serving.server.protocol import Input, Inputs
from serving.server.replies import MAX_VALUES
from serving.text_task import TaskOptions

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


@dataclasses.dataclass(frozen=True)
class TensorKey:
    """Key of requests to a signature that can be run together."""

    signature: str
    shapes: tuple[tuple[int, ...], ...]


@dataclasses.dataclass(frozen=True)
class TaskKey:
    """Key of requests to a task of text_tasks.py."""

    task: str


class LoadedVersion:
    """One version of a model, in memory.

    Args:
        path: folder of its SavedModel.
        number: of the version.
        options: BatchingOptions.
        on_batch: see Batcher.
    """

    def __init__(
        self,
        path: Path,
        number: int,
        options: BatchingOptions,
        on_batch: Callable[[int, float], None],
    ) -> None:
        self.number = number
        self.model = TextModel(path)
        self.model.pack_weights()
        self.signatures = self.model.saved_model.signatures
        self.tasks = {
            name: self.model.task(name, _PAGE_OPTIONS)
            for name in self.model.tasks
        }
        saved = saved_model_pb2.SavedModel.FromString(
            (path / "saved_model.pb").read_bytes()
        )
        self.definitions = {
            name: definition
            for name, definition in saved.meta_graphs[0].signature_def.items()
            if not name.startswith("__")
        }
        self.inputs = {name: self._inputs(name) for name in self.definitions}
        self._warm_up()
        self.batcher = Batcher(self._run, options, on_batch)

    def _inputs(self, signature: str) -> Inputs:
        specs = self.signatures[signature].structured_input_signature[1]
        return {
            name: Input(
                spec.dtype,
                tuple(-1 if size is None else size for size in spec.shape),
            )
            for name, spec in sorted(specs.items())
        }

    def _warm_up(self) -> None:
        """Calls each signature over text once, since the first call is slow.

        Raises:
            tf.errors.OpError: the model cannot be called.
        """
        for name, inputs in self.inputs.items():
            if all(each.dtype == tf.string for each in inputs.values()):
                text = np.array([b"a [MASK]"], object)
                self.call(name, dict.fromkeys(inputs, text))

    def key_of(
        self, signature: str, arrays: Mapping[str, np.ndarray]
    ) -> TensorKey | None:
        """Returns the key of similar requests; None = it runs alone."""
        has_text = any(array.dtype == object for array in arrays.values())
        if has_text and signature not in _RAGGED:
            # For outputs as long as the longest text of a call.
            function = self.signatures[signature]
            for spec in function.structured_outputs.values():
                if None in spec.shape[1:]:
                    return None
        shapes = (array.shape[1:] for array in arrays.values())
        return TensorKey(signature, tuple(shapes))

    def call(
        self, signature: str, arrays: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Returns a signature's outputs."""
        tensors = {
            name: tf.constant(array, self.inputs[signature][name].dtype)
            for name, array in arrays.items()
        }
        outputs = self.signatures[signature](**tensors)
        return {name: value.numpy() for name, value in outputs.items()}

    def count_wordpieces(self, texts: Sequence[bytes]) -> int | None:
        """Returns the WordPieces of texts; None if the export cannot say."""
        if "tokenize" not in self.signatures or not texts:
            return None
        # One at a time, since they are padded to the longest.
        nothing = np.array([b""], object)
        return sum(
            int(
                self.call(
                    "tokenize",
                    {"text_a": np.array([text], object), "text_b": nothing},
                )["num_wordpieces"][0]
            )
            for text in texts
        )

    def _run(self, key: Hashable, payloads: Sequence[Any]) -> list[Any]:
        """Computes a batch, see Batcher; without a key, calls functions."""
        if isinstance(key, TaskKey):
            return self.tasks[key.task].answer(payloads)
        if isinstance(key, TensorKey):
            return self._call_together(key.signature, payloads)
        return [compute() for compute in payloads]

    def _call_together(
        self, signature: str, requests: Sequence[Mapping[str, np.ndarray]]
    ) -> list[dict[str, np.ndarray] | RestError]:
        """Returns the outputs of each request, or its error."""
        if len(requests) > 1:
            joined = {
                name: np.concatenate([arrays[name] for arrays in requests])
                for name in requests[0]
            }
            try:
                outputs = self.call(signature, joined)
            except (tf.errors.OpError, MemoryError):
                pass
            else:
                return [*self._split(signature, requests, outputs)]
        return [self.call_alone(signature, arrays) for arrays in requests]

    def call_alone(
        self, signature: str, arrays: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray] | RestError:
        """Returns a signature's outputs, or the request's error."""
        try:
            return self.call(signature, arrays)
        except (tf.errors.ResourceExhaustedError, MemoryError):
            return RestError(503, "out of memory; send fewer or shorter texts")
        except (tf.errors.OpError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split())[:400]
            is_ours = isinstance(error, _SERVER_ERRORS)
            return RestError(500 if is_ours else 400, reason)

    def _split(
        self,
        signature: str,
        requests: Sequence[Mapping[str, np.ndarray]],
        outputs: Mapping[str, np.ndarray],
    ) -> list[dict[str, np.ndarray]]:
        """Returns each request's rows of the outputs of a batch."""
        found, begin = [], 0
        counts, ragged = _RAGGED.get(signature, ("", ()))
        for arrays in requests:
            end = begin + len(next(iter(arrays.values())))
            rows = {name: value[begin:end] for name, value in outputs.items()}
            for name in ragged:
                longest = max(rows[counts], default=0)
                rows[name] = rows[name][:, :longest]
            found.append(rows)
            begin = end
        return found


class ServedModel:
    """A named model: watches its folder and holds its newest version.

    Args:
        name: as clients call it.
        path: folder of a SavedModel, or of numbered versions.
        options: BatchingOptions.
        on_batch: called with the name, the rows and the seconds of a batch.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        options: BatchingOptions,
        on_batch: Callable[[str, int, float], None],
    ) -> None:
        self.name = name
        self.path = path
        self._options = options
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
        files = _fingerprint(folder)
        if self._failed.get(number) == files:
            return False
        self.states[number] = ("LOADING", "")
        try:
            loaded = LoadedVersion(
                folder, number, self._options, self._on_batch
            )
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

    def describe_status(self, version: int | None) -> dict[str, Any]:
        """Returns the reply of `GET /v1/models/NAME[/versions/N]`.

        Raises:
            RestError: there is no such version.
        """
        states = dict(self.states)
        if version is not None and version not in states:
            raise RestError(
                404, f"Could not find version {version} of model {self.name}"
            )
        return {
            "model_version_status": [
                {
                    "version": str(number),
                    "state": state,
                    "status": {
                        "error_code": "UNKNOWN" if message else "OK",
                        "error_message": message,
                    },
                }
                for number, (state, message) in sorted(
                    states.items(), reverse=True
                )
                if version in (None, number)
            ]
        }


def not_found(name: str, version: int | None) -> RestError:
    """Returns the error for a model or version that is not served."""
    what = (
        f"Latest({name})"
        if version is None
        else (f"Specific({name}, {version})")
    )
    return RestError(404, f"Servable not found for request: {what}")


def _fingerprint(folder: Path) -> object:
    """Returns a value that changes when a file in a folder does."""
    found = []
    for file in sorted(folder.rglob("*")):
        stat = file.stat()
        found.append((str(file), stat.st_size, stat.st_mtime_ns))
    return tuple(found)
