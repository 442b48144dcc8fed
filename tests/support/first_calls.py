"""Notes which functions are called, in the order of their first calls.

For example:

    with noted_calls() as calls:
        export.main(parsed)
    assert ("exporting/export_writer.py", "export") in calls

    calls = run_and_note_calls(tmp_path, "run_classifier.py", "--do_train")
"""

import contextlib
import json
import runpy
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TypeAlias

from tests.support import fresh_process
from tests.support.paths import ROOT

# The file, from the root of the project, and the qualified name.
Function: TypeAlias = tuple[str, str]


@contextlib.contextmanager
def noted_calls() -> Iterator[list[Function]]:
    """Yields the functions that a block calls, in a list filled at its end.

    The profilers of Python see the calls of all threads.
    """
    first_calls: dict[Function, None] = {}
    noted: list[Function] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            file = code.co_filename.removeprefix(f"{ROOT}/")
            first_calls.setdefault((file, code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield noted
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        noted += first_calls


def run_and_note_calls(
    folder: Path, script: str, *flags: str
) -> list[Function]:
    """Runs a script in a folder, and returns the functions that it calls."""
    output = folder / f"{script}.json"
    fresh_process.run(
        "-m", __name__, output, ROOT / script, *flags, cwd=folder
    ).check()
    calls = json.loads(output.read_text(encoding="utf-8"))
    return [(file, name) for file, name in calls]


def _run_script(output: str, *command: str) -> None:
    """Runs a script in this process, and writes the functions as JSON."""
    sys.argv = [*command]
    try:
        with noted_calls() as calls:
            runpy.run_path(command[0], run_name="__main__")
    finally:
        # A script may end by SystemExit.
        Path(output).write_text(json.dumps(calls), encoding="utf-8")


if __name__ == "__main__":
    _run_script(*sys.argv[1:])
