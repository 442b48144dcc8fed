"""The walks of docs/architecture.md, in the order in which commands call them.

A walk lists each function where a command calls it for the first time.
"""

import asyncio
import contextlib
import json
import re
import sys
import threading

import pytest

pytest.importorskip("fastapi", reason="needs requirements/serve.txt")

from options.parsed_command import ParsedCommand
from serving.engines import EngineOptions
from serving.http.app import ServerApp
from serving.http.server_state import ExportToServe
from tests.support import fresh_process
from tests.support.paths import ROOT, SAMPLES
from tests.support.serving import asgi
from tools import export
from tools.exporting.export_config import ExportConfig

# Runs a script, and writes [file, function] of each function that was called,
# in the order of first calls. The profilers of Python see the calls of all
# threads.
NOTE_CALLS = """
import atexit, json, runpy, sys, threading

output, *sys.argv = sys.argv[1:]
first_calls = {}

def note(frame, event, argument):
    if event == "call":
        code = frame.f_code
        first_calls.setdefault((code.co_filename, code.co_qualname))

def write():
    sys.setprofile(None)
    with open(output, "w") as file:
        json.dump([*first_calls], file)

atexit.register(write)
threading.setprofile(note)
sys.setprofile(note)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
VOCAB = f"--vocab_file={SAMPLES}/vocab.txt"
CONFIG = f"--bert_config_file={SAMPLES}/bert_config.json"
LENGTH = "--max_seq_length=32"
CREATE_DATA = [
    "create_pretraining_data.py",
    f"--input_file={SAMPLES}/corpus.txt",
    VOCAB,
    LENGTH,
    "--dupe_factor=1",
]


def read_steps(title):
    """Returns [(file, function)] of the table of a walk, by its title."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    walk = page.split(f"\n### {title}")[1].split("\n##")[0]
    step = r"^\| `([\w./]+)` \| (?:\*\*)?`([\w.]+)`"
    return re.findall(step, walk, re.M)


def read_calls(path):
    """Returns [(file, function)], in the order of first calls."""
    calls = json.loads(path.read_text(encoding="utf-8"))
    return [(file.removeprefix(f"{ROOT}/"), name) for file, name in calls]


def in_order_of(calls, steps):
    """Returns the steps that were called, in the order of their first calls."""
    return [*dict.fromkeys(call for call in calls if call in steps)]


def run_and_read_calls(folder, script, *flags):
    """Runs a script, and returns its [(file, function)]."""
    calls = folder / f"{script}.json"
    command = ("-c", NOTE_CALLS, calls, ROOT / script, *flags)
    fresh_process.run(*command, cwd=folder).check()
    return read_calls(calls)


@contextlib.contextmanager
def noted_calls():
    """Yields [(file, function)] of the calls in a block, filled at its end."""
    calls = {}
    noted = []

    def note(frame, event, argument):
        if event == "call":
            code = frame.f_code
            file = code.co_filename.removeprefix(f"{ROOT}/")
            calls.setdefault((file, code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield noted
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        noted += calls


def test_a_request_calls_the_steps_of_its_walk(classified):
    export = ExportToServe(str(classified.folder / "export"), EngineOptions())
    path = "/api/models/m/classify"
    request = {"text_a": "A boat.", "text_b": "A ship."}
    with noted_calls() as calls:
        app = ServerApp.create({"m": export})
        app.state.load_models()
        status, _ = asyncio.run(asgi.post(app, path, request))
    assert status == 200
    steps = read_steps("A request")
    assert in_order_of(calls, steps) == steps


def test_a_model_calls_the_steps_of_the_walk_to_its_export(
    classified, tmp_path
):
    flags = {
        "model": str(classified.folder / "run"),
        "export_dir": str(tmp_path / "export"),
    }
    parsed = ParsedCommand(ExportConfig.from_values(**flags), flags)
    with noted_calls() as calls:
        export.main(parsed)
    steps = read_steps("A trained model")
    assert in_order_of(calls, steps) == steps


@pytest.mark.slow
def test_a_row_calls_the_steps_of_its_walk(tmp_path):
    calls = run_and_read_calls(
        tmp_path,
        "run_classifier.py",
        f"--data_file={SAMPLES}/topics/train.csv",
        CONFIG,
        VOCAB,
        # The length is left open, because the walk reads the rows to decide it.
        "--num_train_epochs=1",
        "--output_dir=run",
    )
    steps = read_steps("A row of a table")
    assert in_order_of(calls, steps) == steps


@pytest.mark.slow
def test_a_text_calls_the_steps_of_its_walk(tmp_path):
    created = run_and_read_calls(tmp_path, *CREATE_DATA, "--output_file=masked")
    # Training masks these records, which is a step of its own.
    fresh_process.run(
        *CREATE_DATA,
        "--dynamic_masking",
        f"--output_file={tmp_path}/unmasked",
    ).check()
    trained = run_and_read_calls(
        tmp_path,
        "run_pretraining.py",
        "--input_file=unmasked-*",
        CONFIG,
        VOCAB,
        LENGTH,
        "--num_train_steps=2",
        "--do_train",
        "--output_dir=pretrained",
    )
    steps = read_steps("A text of a corpus")
    assert in_order_of([*created, *trained], steps) == steps
