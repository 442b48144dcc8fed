"""Runs Python in a process of its own, in which nothing is imported yet.

script_runner.py runs scripts faster, in a process with TensorFlow loaded. Use
this module if the test is about what a process imports, prints or inherits.

For example:

    output = run("-c", "import serving; print(1)").check().stdout
"""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Collection
from typing import Self

from files.paths import StrPath
from tests.support.paths import ROOT
from tests.support.waiting import TIMEOUT


@dataclasses.dataclass(frozen=True)
class ProcessResult:
    """Status and output of a process that ended."""

    status: int
    stdout: str
    stderr: str

    def check(self) -> Self:
        """Checks that the process succeeded, and returns self."""
        assert self.status == 0, self.stdout + self.stderr
        return self

    @property
    def error(self) -> str:
        """The error line of the script. Fails if there is not exactly one."""
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


def run(
    *arguments: StrPath,
    cwd: StrPath = ROOT,
    text: str = "",
    without: Collection[str] = (),
    **environment: str,
) -> ProcessResult:
    """Runs `python ARGUMENTS`, such as "-c" and a program.

    Args:
        *arguments: arguments of Python, strings or paths.
        cwd: folder to run it in. The project can be imported from any folder.
        text: what the process reads from stdin.
        without: names of environment variables that the process does not get.
        **environment: {name: value} of variables that the process gets too.
    """
    variables = {
        name: value for name, value in os.environ.items() if name not in without
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        input=text,
        env=variables | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    return ProcessResult(done.returncode, done.stdout, done.stderr)


def start(
    *arguments: StrPath, cwd: StrPath = ROOT, **environment: str
) -> subprocess.Popen[str]:
    """Starts `python ARGUMENTS`. Returns its Popen, with pipes of text.

    Use it in a `with` block with `killed_late` of waiting.py.
    """
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
