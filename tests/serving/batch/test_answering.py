"""Rows of files: batches of similar length, memory, and signals."""

import contextlib
import io
import json
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from serving.batch import answering
from serving.batch.answers import answer_writer
from serving.batch.answers.answer_rows import AnswerRow
from serving.batch.request_files import Item
from serving.serving_flags import DEFAULT_TASK_FLAGS
from serving.tasks.text_task import Encoded, TextTask
from tests.support import fresh_process, script_runner
from tests.support.golden import ROOT


class Asked:
    """A task without a network, which notes the texts of each batch."""

    def __init__(self):
        self.batches = []
        self.task = TextTask(
            "size",
            lambda model, request: Encoded([], request["text"]),
            lambda model, text, *_: {"size": len(text)},
            {"text": True},
        )

    def answer(self, texts, **row_options):
        """Returns the lists of rows for texts, and notes the batches."""

        def run_all(inputs, *_):
            self.batches.append(len(inputs))
            return [{key: [] for key in inputs}]

        items = (
            Item(number, {"text": text}, row={"id": number})
            for number, text in texts
        )
        engine = SimpleNamespace(run_all=run_all)
        model = SimpleNamespace(engine=engine, max_seq_length=8, pads=False)
        options = answering.RowOptions(**row_options)
        return [
            *answering.answer_items(
                model, self.task, DEFAULT_TASK_FLAGS, items, options
            )
        ]


def test_rows_of_a_file_are_sorted_by_length_and_keep_their_order(monkeypatch):
    monkeypatch.setattr(answering, "_BUFFER_ROWS", 100)
    texts = [*enumerate("x" * (1 + number * 37 % 100) for number in range(250))]
    asked = Asked()
    lengths = []
    encode = asked.task.encode

    def note(model, request):
        lengths.append(len(request["text"]))
        return encode(model, request)

    asked.task = TextTask("size", note, asked.task.decode, {"text": True})
    result = asked.answer(texts, sorts=True, batch_size=8)
    assert [len(rows) for rows in result] == [100, 100, 50]
    rows = [row.cells for rows in result for row in rows]
    assert rows == [{"id": number, "size": len(text)} for number, text in texts]
    for first in (0, 100, 200):
        part = lengths[first : first + 100]
        assert part == sorted(part, reverse=True)
    # Those of a pipe are answered as they come.
    asked.batches.clear()
    result = asked.answer(texts[:3], batch_size=1)
    assert [len(rows) for rows in result] == asked.batches == [1, 1, 1]


def test_long_texts_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(answering, "_BUFFER_CHARACTERS", 1000)
    texts = [*enumerate(["x" * 600] * 5)]
    result = Asked().answer(texts, sorts=True)
    assert [len(rows) for rows in result] == [2, 2, 1]


_WRITE_ARRAY = """
import sys
from serving.batch.answers import answer_writer, npy, rows

def read(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) // 1024

before = read("VmRSS")
row = rows.AnswerRow({"mean": [0.5] * 1024})
with answer_writer._open_output(sys.argv[1]) as file:
    npy.write_npy(([row] for _ in range(50_000)), file)
print(read("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is in /proc")
@pytest.mark.parametrize("name", ["out.npy", "out.npy.gz"])
def test_an_array_needs_no_memory_for_its_rows(tmp_path, name):
    done = fresh_process.run("-c", _WRITE_ARRAY, tmp_path / name).check()
    # The array has 195 MiB.
    assert int(done.stdout) < 60
    if name == "out.npy":
        array = np.load(tmp_path / name, mmap_mode="r")
        assert array.shape == (50_000, 1024) and array[-1, -1] == 0.5


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_an_array_goes_to_standard_output(tmp_path, mode):
    """Also behind what a shell's >> keeps."""
    code = (
        "from serving.batch.answers import answer_writer, rows;"
        "answers = [{'value': 1.5}, {}, {'value': 2}];"
        "batch = [rows.AnswerRow(answer) for answer in answers];"
        "answer_writer.write_answers(None, 'npy', [batch])"
    )
    path = tmp_path / "out.npy"
    path.write_bytes(b"kept")
    with path.open(mode) as file:
        subprocess.run(
            [sys.executable, "-c", code], stdout=file, check=True, cwd=ROOT
        )
    kept = b"kept" if mode == "ab" else b""
    result = path.read_bytes().removeprefix(b"kept")
    assert path.read_bytes() == kept + result
    array = np.load(io.BytesIO(result))
    np.testing.assert_equal(array, np.array([1.5, np.nan, 2], np.float32))


@pytest.fixture
def started(tmp_path, folders):
    """(output) -> a running predict.py that has told of its first answers."""
    line = json.dumps({"id": 1, "text_a": "The harbor light is on. " * 3})
    (tmp_path / "in.jsonl").write_text(f"{line}\n" * 200_000)

    @contextlib.contextmanager
    def start(name):
        with script_runner.start(
            "predict.py",
            tmp_path,
            model=folders["classifier"],
            input_file="in.jsonl",
            output_file=name,
        ) as script:
            script.wait_until(lambda: "Predicting row" in script.stderr())
            yield script

    return start


@pytest.mark.parametrize(
    "number, name",
    [
        (signal.SIGTERM, "out.jsonl"),
        (signal.SIGTERM, "out.npy"),
        (signal.SIGINT, "out.csv.gz"),
    ],
)
def test_a_signal_leaves_no_partial_file(number, name, tmp_path, started):
    with started(name) as script:
        script.send(number)
        done = script.finish()
    assert done.status == 128 + number
    last_line = done.stderr.splitlines()[-1]
    start, _, end = last_line.partition(" rows")
    assert start.startswith(f"error: stopped by {number.name} after ")
    assert int(start.rpartition(" ")[2]) > 0
    assert end == "; nothing was written"
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_signal_is_too_late_for_a_complete_file(tmp_path):
    """predict.py ignores signals while the file gets its name."""
    path = tmp_path / "out.jsonl"
    existed = []
    answer_writer.write_answers(
        str(path),
        "jsonl",
        [[AnswerRow({"value": 1})]],
        lambda: existed.append(path.exists()),
    )
    assert existed == [False] and path.exists()
