"""Serves the newest version of each model.

A new version is loaded and warmed up while the old version still answers. Then
the new version replaces the old version, which finishes its requests.
"""

import dataclasses
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from absl import logging

from files import manifests
from serving import engines
from serving.server import worker
from serving.server.batching import Batcher
from serving.server.limits import Limits
from serving.server.protocol import RestError
from serving.server.signatures import Description

# For each file of an export: path, size in bytes, and modification time in
# nanoseconds.
Files = list[tuple[str, int, int]]


class LoadedVersion:
    """One version of a model, which runs in its own process (worker.main).

    Raises:
        ValueError: the version cannot be loaded.
    """

    def __init__(
        self,
        path: Path,
        number: int,
        limits: Limits,
        on_batch: Callable[[int, float], None],
    ) -> None:
        self.number = number
        modules = os.pathsep.join(map(os.path.abspath, sys.path))
        self.connection, theirs = multiprocessing.Pipe()
        with theirs:
            # Start the process in a new POSIX session, so that Ctrl-C in the
            # server's terminal does not reach the process.
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-c"),
                    f"import {worker.__name__} as worker\n"
                    f"worker.main({theirs.fileno()})",
                ],
                env=os.environ | {"PYTHONPATH": modules},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            # Convert `limits` to the base class, because the version's process
            # cannot unpickle the subclass of Limits that serve.py defines.
            fields = [field.name for field in dataclasses.fields(Limits)]
            values = {name: getattr(limits, name) for name in fields}
            self.description: Description = self._ask(path, Limits(**values))
        except Exception:
            self._end()
            raise
        # The batcher sends each batch to the process, which passes the batch to
        # worker.Version.run.
        self.batcher = Batcher(self._ask, limits, on_batch)

    def _ask(self, *message: Any) -> Any:
        """Sends a message to the process and returns the reply.

        Raises:
            RestError: the call fails, or the process has ended.
            ValueError: the process cannot load the version.
        """
        try:
            self.connection.send(message)
            answer, error = self.connection.recv()
        except (EOFError, OSError):
            self.connection.close()
            raise RestError(
                "the model's process ended, perhaps for lack of memory. Try "
                "again later",
                503,
            ) from None
        if error:
            raise error
        return answer

    def close(self, timeout: float | None = None) -> None:
        """Waits until accepted requests are answered, and ends the process.

        `timeout` is the maximum number of seconds to wait, None for no maximum.
        """
        self.batcher.close(timeout)
        self._end()

    def _end(self) -> None:
        self.connection.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class ServedModel:
    """Serves the newest version of one model, and watches the model's folder.

    Args:
        name: name of the model in requests.
        path: folder of an export, or of numbered versions.
        limits: limits on requests, and options of the engine.
        on_batch: called after each batch with the name of the model, the number
            of rows and the seconds that the batch took.

    Attributes:
        current: the version that is served. The first `refresh` sets it.
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
        # {version: files} of the current version, and of the versions that
        # failed to load. They are loaded again only when their files change.
        self._tried: dict[int, Files] = {}
        # {version: files} of all versions at the last check.
        self._seen: dict[int, Files] = {}
        # {version: (state, error message)}, for status requests.
        self.states: dict[int, tuple[str, str]] = {}
        # `current`, or None before the first `refresh`.
        self._served: LoadedVersion | None = None

    def refresh(self) -> None:
        """Serves the newest version that can be loaded.

        If loading fails, the next older version is served. The failed version
        is loaded again when its files change.

        While a version is served, another version is loaded only when it is
        complete and its files have not changed since the previous call.

        Raises:
            ValueError: no version was ever served, and none can be loaded.
        """
        with self._lock:
            versions = engines.find_versions(self.path)
            served = self._served
            if served and served.connection.closed:
                # The process has ended. Try every version again, because those
                # that failed to load may have failed for lack of memory.
                served = None
                self._tried.clear()
            for number in sorted(versions, reverse=True):
                folder = versions[number]
                stats = [(x, x.stat()) for x in sorted(folder.rglob("*"))]
                files = [(str(x), s.st_size, s.st_mtime_ns) for x, s in stats]
                if self._tried.get(number) == files or (
                    served and not self._is_settled(number, folder, files)
                ):
                    if served and number == served.number:
                        return
                elif self._load(number, folder, files):
                    break
            else:
                if self._served:
                    return
                reasons = [reason for _, reason in self.states.values()]
                raise ValueError(
                    f"--model={self.path} cannot be served: "
                    + (reasons or ["the folder contains no exported model"])[0]
                )
            if number < max(versions):
                logging.warning(
                    "%s: serving version %d, because newer versions cannot be "
                    "loaded",
                    *(self.name, number),
                )

    def _is_settled(self, number: int, folder: Path, files: Files) -> bool:
        """Returns whether an export is complete and no longer changes.

        An export no longer changes if `files` are equal to the files at the
        previous call for the same version.
        """
        before, self._seen[number] = self._seen.get(number), files
        try:
            names = manifests.listed(folder, manifests.EXPORT)
        except ValueError:
            # The export is still being written.
            return False
        return before == files and all((folder / n).exists() for n in names)

    def _load(self, number: int, folder: Path, files: Files) -> bool:
        """Loads a version. Returns whether it is now the current version."""
        before, self._tried[number] = self._served, files
        is_again = before is not None and before.number == number
        if is_again:
            logging.info("%s: loading changed version %d", self.name, number)
        else:
            self.states[number] = ("LOADING", "")
        try:
            loaded = LoadedVersion(folder, number, self._limits, self._on_batch)
        except Exception as error:
            reason = " ".join(str(error).split())[:400]
            logging.error(
                "%s version %d cannot be loaded: %s", self.name, number, reason
            )
            if not is_again:
                self.states[number] = ("END", reason)
            return False
        self.current = self._served = loaded
        self.states[number] = ("AVAILABLE", "")
        about = loaded.description
        logging.info(
            "%s: serving version %d with %s, %s",
            *(self.name, number, about.engine, about.precision),
        )
        if before:
            if not is_again:
                self.states[before.number] = ("END", "")
                self._tried.pop(before.number, None)
            before.close()
        return True
