"""The walks of docs/architecture.md, in the order in which commands call them.

A walk lists each function where a command calls it for the first time.
docs/code_reference.md shows all steps of one of them, each below its caller.
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
from tests.support.source_files import blocks
from tools import export
from tools.exporting.export_config import ExportConfig

# Runs a script, and writes [file, function, callers] of each function that was
# called, in the order of first calls. The callers are the functions that the
# first call interrupts. The profilers of Python see the calls of all threads.
NOTE_CALLS = """
import atexit, json, runpy, sys, threading

output, *sys.argv = sys.argv[1:]
first_calls = {}

def note(frame, event, argument):
    if event == "call":
        code = frame.f_code
        key = code.co_filename, code.co_qualname
        if key not in first_calls:
            first_calls[key] = [*list_callers(frame)]

def list_callers(frame):
    while frame := frame.f_back:
        yield frame.f_code.co_qualname

def write():
    sys.setprofile(None)
    with open(output, "w") as file:
        json.dump([[*key, first_calls[key]] for key in first_calls], file)

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


def read_section(title, page="architecture.md"):
    """Returns the text of a page below a heading that begins with `title`."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.split(rf"\n##+ {title}", text)[1].split("\n##")[0]


def read_steps(title):
    """Returns [(file, function)] of the table of a walk, by its title."""
    walk = read_section(title)
    step = r"^\| `([\w./]+)` \| (?:\*\*)?`([\w.]+)`"
    return re.findall(step, walk, re.M)


def read_tree():
    """Returns {(file, function): its caller} of all steps of a row."""
    section = read_section("All steps of a row", "code_reference.md")
    [tree] = blocks(section, "text")
    # [function at each depth], from the first one to the last that was read.
    stack = []
    caller_of_step = {}
    for indent, name, file in re.findall(r"^( *)(\S+) +(\S+)$", tree, re.M):
        del stack[len(indent) // 2 :]
        caller_of_step[file, name] = stack[-1] if stack else None
        stack.append(name)
    return caller_of_step


def read_calls(path):
    """Returns {(file, function): callers}, in the order of first calls."""
    calls = json.loads(path.read_text(encoding="utf-8"))
    return {
        (file.removeprefix(f"{ROOT}/"), name): callers
        for file, name, callers in calls
    }


def in_order_of(calls, steps):
    """Returns the steps that were called, in the order of their first calls."""
    return [*dict.fromkeys(call for call in calls if call in steps)]


def run_and_read_calls(folder, script, *flags):
    """Runs a script, and returns its {(file, function): callers}."""
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


def test_the_short_walk_of_a_row_contains_steps_of_the_full_walk():
    short = read_steps("A row of a table")
    assert [step for step in read_tree() if step in short] == short


@pytest.mark.slow
def test_a_row_calls_all_steps_of_its_walk(tmp_path):
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
    caller_of_step = read_tree()
    assert in_order_of(calls, caller_of_step) == [*caller_of_step]
    for step, caller in caller_of_step.items():
        assert caller is None or caller in calls[step], step


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
