"""The walks of docs/architecture.md, in the order in which commands call them.

A walk lists each function where a command calls it for the first time.
"""

import json
import re
import signal
import urllib.request

import pytest

from tests.support import fresh_process
from tests.support.paths import ROOT, SAMPLES
from tests.support.waiting import TIMEOUT, killed_late

pytestmark = pytest.mark.slow

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
    """Returns [(file, function)] of a command, in the order of first calls."""
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


def serve_and_read_calls(folder, model):
    """Asks serve.py once, and returns its [(file, function)]."""
    calls = folder / "serve.py.json"
    flags = (f"--model={model}", "--port=0")
    process = fresh_process.start(
        "-c", NOTE_CALLS, calls, ROOT / "serve.py", *flags, cwd=folder
    )
    with process, killed_late(process):
        lines = iter(process.stderr.readline, "")
        ready = re.compile(r"ready: (http://127\.0\.0\.1:\d+)")
        address = next(match[1] for match in map(ready.search, lines) if match)
        request = urllib.request.Request(
            f"{address}/api/models/{model.name}/classify",
            data=json.dumps({"text": "A boat."}).encode(),
        )
        with urllib.request.urlopen(request) as response:
            assert response.status == 200
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)
    return read_calls(calls)


def test_a_row_and_a_request_call_the_steps_of_their_walks(tmp_path):
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
    calls = serve_and_read_calls(tmp_path, tmp_path / "run_model")
    steps = read_steps("A request")
    assert in_order_of(calls, steps) == steps


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
    assert in_order_of(created + trained, steps) == steps
