"""A child process and the signals of its parent."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from tests.golden import ROOT
from training.command_line import child

# Says that it runs; asked to stop it saves, which takes a moment.
CHILD = """
import signal, sys, time
def stop(*_):
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(75)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
print("runs", flush=True)
time.sleep(60)
"""
# Signals that whoever started the tests ignores are heard again.
PARENT = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from training.command_line import child
child.run([sys.executable, "-c", {CHILD!r}])
"""


@contextlib.contextmanager
def running():
    """Yields a parent whose child runs."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout.readline() == "runs\n"
        yield parent


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_child_saves_before_its_parent_ends(number):
    with running() as parent:
        parent.send_signal(number)
        assert parent.wait(60) == os.EX_TEMPFAIL
        assert parent.stdout.read() == "saved\n"


def test_a_closed_terminal_ends_both():
    with running() as parent:
        parent.send_signal(signal.SIGHUP)
        # Read to the end: no child has it open any more.
        assert parent.stdout.read() == ""
        assert parent.wait(60) == os.EX_TEMPFAIL


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the child")
def test_a_child_saves_when_its_parent_is_killed():
    with running() as parent:
        parent.kill()
        # Read to the end: no child has it open any more.
        assert parent.stdout.read() == "saved\n"


def test_handlers_are_as_before():
    before = signal.getsignal(signal.SIGTERM)
    assert child.run([sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert signal.getsignal(signal.SIGTERM) == before
