"""Runs the project's scripts as a user does, each in a separate process.

`run` runs a script to its end, and `start` runs it beside the test. The script
is read from its file and run as `__main__`, with its own command line, standard
streams and exit status, in a process of fork_server.py.

For example:

    done = run("run_squad.py", tmp_path, output_dir="run").check()

`check_refusals` runs commands that must fail, and `write_script_on_devices`
writes a script for several devices:

    cases = [("--learning_rate=-1", "--learning_rate", "-1")]
    check_refusals(tmp_path, "run_squad.py", flags, cases)
    run(write_script_on_devices(path, "print(1)"), tmp_path).check()
"""

import os
import runpy
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

from files.paths import StrPath
from tests.support.fork_server import PROCESSES
from tests.support.fresh_process import ProcessResult
from tests.support.output_files import snapshot
from tests.support.paths import ROOT
from tests.support.waiting import wait_until

T = TypeVar("T")
# {flag: value}. Flags whose value is None are not passed.
Flags: TypeAlias = dict[str, Any]

# Modules of the scripts. Names with a dot (tools.*) are run with `python -m`.
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (*ROOT.glob("*.py"), *ROOT.glob("tools/*.py"))
    if "\ncommand = " in path.read_text()
)
# Starting a process also polls all other processes. If two threads poll at the
# same time, one gets the exit status and the other gets 255.
_ASKING = threading.Lock()


def split_flags(text: str) -> Flags:
    """Returns {name: value} of flags in a text, such as "--name=value"."""
    pairs = (flag.partition("=") for flag in text.split())
    return {name[2:]: value if sep else True for name, sep, value in pairs}


class FinishedRun(NamedTuple):
    """A script that has ended, and what it wrote, for several tests to read.

    A test never changes `folder`. A test that runs another command on it copies
    the folder first, with shutil.copytree.

    Attributes:
        folder: folder of all that the script wrote, each in a folder or file
            that the docstring of the fixture names.
        flags: {name: value} of all flags, to run the script again.
        done: exit status, stdout and stderr of the script.
    """

    folder: Path
    flags: Flags
    done: ProcessResult


class RunningScript:
    """A running script, which is killed at the end of a `with` block."""

    def __init__(
        self,
        script: StrPath,
        cwd: StrPath,
        arguments: Iterable[StrPath],
        environment: Mapping[str, str] | None,
        flags: Mapping[str, object],
    ) -> None:
        command = [str(argument) for argument in arguments]
        for name, value in flags.items():
            if value is not None:
                command.append(f"--{name}={value}")
        self._folder = tempfile.TemporaryDirectory()
        self._streams = [
            os.path.join(self._folder.name, name) for name in ("out", "err")
        ]
        for path in self._streams:
            # The script may be killed before it creates these files.
            Path(path).touch()
        self._process: ForkServerProcess | None = PROCESSES.Process(
            target=_run_script,
            args=(str(script), command, cwd, self._streams, environment),
        )
        self._done: ProcessResult | None = None
        with _ASKING:
            self._process.start()
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.finish()

    def is_alive(self) -> bool:
        with _ASKING:
            return self._process is not None and self._process.is_alive()

    def stderr(self) -> str:
        """Returns the script's output to stderr so far."""
        if self._done:
            return self._done.stderr
        path = Path(self._streams[1])
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_until(self, find: Callable[[], T | None]) -> T:
        """Returns the first true result of `find`, while the script runs."""

        def find_while_alive() -> T | None:
            is_alive = self.is_alive()
            result = find()
            assert result or is_alive, self.stderr()
            return result

        return wait_until(find_while_alive, self.stderr)

    def wait_for_files(
        self, folder: Path, pattern: str, count: int = 1
    ) -> None:
        """Waits until this number of files match, while the script runs."""
        self.wait_until(lambda: len([*folder.glob(pattern)]) >= count)

    def send(self, number: int) -> None:
        """Sends a signal to the script."""
        assert self.pid
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self._process is not None and self.is_alive():
            self._process.kill()

    def finish(self) -> ProcessResult:
        """Waits until the script ends. Returns its result."""
        if self._done:
            return self._done
        assert self._process
        wait_until(lambda: not self.is_alive(), self.stderr)
        with _ASKING:
            self._process.join()
        texts = (
            Path(path).read_text(errors="replace") for path in self._streams
        )
        status = self._process.exitcode
        assert status is not None
        self._done = ProcessResult(status, *texts)
        self._process.close()
        self._process = None
        self._folder.cleanup()
        return self._done


def start(
    script: StrPath,
    cwd: StrPath,
    *arguments: StrPath,
    environment: Mapping[str, str] | None = None,
    **flags: object,
) -> RunningScript:
    """Starts a script in the folder `cwd`, by the name of its file or module.

    `environment` is added to the environment variables. Flags whose value is
    None are not passed.
    """
    return RunningScript(script, cwd, arguments, environment, flags)


def run(
    script: StrPath,
    cwd: StrPath,
    *arguments: StrPath,
    kill_when: Callable[[], bool] = lambda: False,
    **flags: Any,
) -> ProcessResult:
    """Runs a script in the folder `cwd`, and returns its result.

    If `kill_when()` returns True before the script ends, the script is killed.
    """
    with start(script, cwd, *arguments, **flags) as running:
        wait_until(
            lambda: kill_when() or not running.is_alive(), running.stderr
        )
        running.kill()
        return running.finish()


def run_each(
    script: StrPath, folder: StrPath, flags: Flags, changes: Iterable[Flags]
) -> list[ProcessResult]:
    """Runs a script for each dict of changed flags. Returns the results.

    Fails if one of these commands fails.
    """
    return [run(script, folder, **flags | more).check() for more in changes]


def skip_fsync() -> None:
    """Lets this process write files without waiting for the disk.

    Each file that the project writes is synced to the disk, which takes most of
    the time of a short run. Tests need not survive a power cut. Like os.fsync,
    os.fstat fails if the file descriptor is invalid.
    """
    os.fsync = os.fstat  # type: ignore[assignment]


def _run_script(
    script: str,
    arguments: Sequence[str],
    cwd: StrPath,
    streams: Sequence[str],
    environment: Mapping[str, str] | None,
) -> None:
    skip_fsync()
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.update(environment or {})
    os.chdir(cwd)
    # Set sys.path and sys.argv as Python does for a script or `python -m`.
    sys.path[0] = str(ROOT)
    if script.endswith(".py"):
        sys.argv = [str(ROOT / script), *arguments]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        sys.argv = [script, *arguments]
        runpy.run_module(script, run_name="__main__", alter_sys=True)


def check_refusals(
    folder: Path, script: StrPath, flags: Flags, cases: Iterable[Sequence[str]]
) -> None:
    """Runs commands that must fail with one line, and change no file.

    Args:
        folder: folder to run the commands in.
        script: the script.
        flags: valid flags of the script.
        cases: tuples of the flags to change, as "--name=value ...", and texts
            that the error message must contain.
    """
    before = snapshot(folder)
    # Of all cases, so that the first wrong one does not hide the others.
    wrong = []
    for text, *parts in cases:
        error = run(script, folder, **flags | split_flags(text)).error
        lost = [part for part in parts if part not in error]
        if lost:
            wrong.append(f"{text}: {lost} not in: {error}")
    assert not wrong, "\n".join(wrong)
    after = snapshot(folder)
    names = {*before, *after}
    assert not [one for one in names if before.get(one) != after.get(one)]


def write_script_on_devices(path: Path, code: str, count: int = 2) -> Path:
    """Writes a script that splits the CPU into devices, and runs `code`."""
    path.write_text(f"""
import runpy
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * {count}
)
{code}
""")
    return path
