"""Runs the project's scripts as a user does, each in a process of its own.

The processes are forked from one that has TensorFlow and the project loaded
(multiprocessing's fork server), which saves each of them seconds of start-up;
the script itself is read from its file and run as `__main__`, with a command
line, standard streams and an exit status of its own.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import multiprocessing
import os
import runpy
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.golden import ROOT

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

SAMPLES = ROOT / "samples"
TIMEOUT = 300.0
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tensorflow", "keras"])
# A start also asks all other processes whether they have ended. Where two
# threads ask at once, one gets the exit status and the other 255.
_ASKING = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Done:
    """Status and output of a script that ended."""

    status: int
    stdout: str
    stderr: str

    def check(self):
        """Returns this, after a look that all went well."""
        assert self.status == 0, self.stderr
        return self

    @property
    def error(self):
        """The one line that says what was wrong; there must be just one."""
        assert self.status == 1, f"status {self.status}\n{self.stderr}"
        assert "Traceback" not in self.stderr, self.stderr
        lines = [
            line
            for line in self.stderr.splitlines()
            if line.startswith("error: ")
        ]
        assert len(lines) == 1, self.stderr
        assert self.stderr.endswith(lines[0] + "\n"), self.stderr
        return lines[0]


def run(script, cwd, kill_when=lambda: False, **flags):
    """Runs a script of the project in a folder.

    To its end, or until `kill_when` returns True; then the script is killed.
    A flag whose value is None is left out.
    """
    arguments = [
        f"--{name}={value}"
        for name, value in flags.items()
        if value is not None
    ]
    with tempfile.TemporaryDirectory() as folder:
        streams = [os.path.join(folder, name) for name in ("out", "err")]
        process = PROCESSES.Process(
            target=_run_script,
            args=(str(ROOT / script), arguments, str(cwd), streams),
        )
        with _ASKING:
            process.start()
        end = time.monotonic() + TIMEOUT
        while _is_alive(process):
            if kill_when() or time.monotonic() > end:
                process.kill()
                break
            time.sleep(0.02)
        with _ASKING:
            process.join()
        texts = [Path(path).read_text(errors="replace") for path in streams]
    status = process.exitcode
    process.close()
    return Done(status, *texts)


def run_all(commands):
    """Runs (script, folder, flags) commands two at a time; one Done each.

    Those that write the same folder run one after the other, as a second one
    would be refused.
    """
    in_use = collections.defaultdict(threading.Lock)

    def run_alone(command):
        script, cwd, flags = command
        outputs = {
            os.path.join(cwd, flags[name])
            for name in ("output_dir", "export_dir", "export_weights")
            if flags.get(name)
        }
        with contextlib.ExitStack() as stack:
            for output in sorted(outputs):
                stack.enter_context(in_use[output])
            return run(script, cwd, **flags)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(run_alone, commands))


def _is_alive(process):
    with _ASKING:
        return process.is_alive()


def _run_script(script, arguments, cwd, streams):
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(cwd)
    # As `python script.py` would have it.
    sys.path[0] = str(ROOT)
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")
