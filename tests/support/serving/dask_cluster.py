"""A Dask scheduler and workers in processes of their own, on the loopback.

For example:

    with Cluster(tmp_path) as cluster:
        flags = {"dask_client_address": cluster.address}
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

from tests.support.paths import ROOT
from tests.support.waiting import TIMEOUT, wait_until

T = TypeVar("T")


class Cluster:
    """A scheduler with workers of one thread each, while a `with` block runs.

    Args:
        folder: folder for the log, in which the processes run.
        num_workers: number of workers.
        **environment: variables of the processes. By default they can import
            the project.

    Attributes:
        address: address of the scheduler.
        workers: subprocess.Popen of each worker.
    """

    def __init__(
        self, folder: Path, num_workers: int = 2, **environment: str
    ) -> None:
        self._folder = folder
        self._num_workers = num_workers
        self._environment = {"PYTHONPATH": str(ROOT)} | environment
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            stack.callback(self._stop)
            file = self._folder / "scheduler.json"
            self._start(
                "dask_scheduler",
                "--host=127.0.0.1",
                "--port=0",
                f"--scheduler-file={file}",
            )
            self.address = self._wait(lambda: _read_address(file))
            scratch = f"--local-directory={self._folder}"
            arguments = (self.address, "--nthreads=1", "--no-nanny", scratch)
            self.workers = [
                self._start("dask_worker", *arguments)
                for _ in range(self._num_workers)
            ]
            text = "Register worker"
            self._wait(lambda: self.log().count(text) >= self._num_workers)
            stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def log(self) -> str:
        """Returns what all processes have logged."""
        return (self._folder / "dask.log").read_text(errors="replace")

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}"]
        with open(self._folder / "dask.log", "ab") as log:
            process = subprocess.Popen(
                [*command, *arguments, "--no-dashboard"],
                cwd=self._folder,
                env=os.environ | self._environment,
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process

    def _stop(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait(TIMEOUT)

    def _wait(self, condition: Callable[[], T | None]) -> T:
        def find_while_alive() -> T | None:
            is_alive = all(one.poll() is None for one in self._processes)
            result = condition()
            assert result or is_alive, self.log()
            return result

        return wait_until(find_while_alive, self.log)


def _read_address(file: Path) -> str | None:
    try:
        address: str = json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        # The scheduler has not written it yet.
        return None
    return address
