"""Times contestants in turns, each in its own process.

The process of a `Contestant` calls `run_contestant`, which creates the work
with a module of benchmarks.contestants, warms up, and times one repeat at each
request of the parent process. Between requests it waits without using the
processor.
"""

import contextlib
import csv
import importlib
import json
import multiprocessing
import os
import resource
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from multiprocessing import connection
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast

import numpy as np

from data.parallel_jobs.cpus import count_cpus

ROOT = Path(__file__).resolve().parent.parent
NUM_THREADS = count_cpus()
PROCESSES = multiprocessing.get_context("spawn")


class Workload(TypedDict, total=False):
    """Settings of a contestant: the settings of its `rows.Row`, and these.

    Attributes:
        precision: precision of the row.
        variant: variant of the contestant, "" if it has only one.
        device: "cpu" or "cuda".
        folder: folder in which the contestant may write.
        num_texts: number of texts in the row bulk.
        bert_config_file, minilm_dir, mrpc_dir, squad_file, corpus, vocab_file:
            values of the flags of these names, the last five only if the row
            needs them.
    """

    name: str
    work: str
    batch_size: int
    seq_length: int
    num_steps: int
    warmup_steps: int
    num_predictions: int
    precision: str
    variant: str
    device: str
    folder: str
    num_texts: int
    bert_config_file: str
    minilm_dir: str
    mrpc_dir: str
    squad_file: str
    corpus: str
    vocab_file: str


class ReadyMessage(TypedDict):
    """The line that a contestant's process sends after its warm-up."""

    num_sequences: float
    versions: dict[str, str]


class Measurement(TypedDict):
    """The line that a contestant's process sends after each repeat."""

    seconds: float
    peak_memory_gib: float
    notes: dict[str, str]


class Work(NamedTuple):
    """The work that a contestant times.

    Attributes:
        repeat: function (num_steps) that does the work. It returns a dict of
            notes to print, {name: number}. Other results are ignored. A note
            "GiB" replaces the peak memory of the contestant's process.
        num_sequences: number of sequences in a step.
    """

    repeat: Callable[[int], object]
    num_sequences: float


def run_contestant(
    name: str, workload: Workload, parent: connection.Connection
) -> None:
    """Creates the work of a contestant, warms up, and times it on request.

    Args:
        name: name of a module of benchmarks.contestants. It contains the
            function workload["work"], which creates a Work from the workload,
            and PACKAGES, the packages whose versions are reported.
        workload: settings of the contestant.
        parent: connection to the parent process.
    """
    # Start a process group, so that `Contestant.close` also ends the processes
    # that this process starts.
    os.setsid()
    os.chdir(ROOT)
    _write_to_log(workload)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    # Without this variable, the older transformers that optimum needs would
    # import TensorFlow.
    os.environ["USE_TF"] = "0"
    if workload["device"] == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    module = importlib.import_module(f"benchmarks.contestants.{name}")
    work: Work = getattr(module, workload["work"])(workload)
    if workload["warmup_steps"]:
        work.repeat(workload["warmup_steps"])
    ready: ReadyMessage = {
        "num_sequences": workload["num_steps"] * work.num_sequences,
        "versions": _find_versions(module.PACKAGES),
    }
    parent.send(ready)
    while parent.recv():
        parent.send(_time_repeat(work, workload["num_steps"]))


def _write_to_log(workload: Workload) -> None:
    """Sends what this process prints to a file in its folder."""
    with Path(workload["folder"], "log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)


def _find_versions(packages: Iterable[str]) -> dict[str, str]:
    """Returns {name: version} of the packages that are installed."""
    versions = {}
    for package in packages:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def _time_repeat(work: Work, num_steps: int) -> Measurement:
    """Does the work once, and measures its time and memory."""
    begin_time = time.perf_counter()
    returned = work.repeat(num_steps)
    seconds = time.perf_counter() - begin_time
    notes = dict(returned) if isinstance(returned, dict) else {}
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(kind).ru_maxrss for kind in kinds)
    return {
        "seconds": seconds,
        "peak_memory_gib": notes.pop("GiB", peak / 2**20),
        "notes": {name: f"{note:.2f}" for name, note in notes.items()},
    }


def read_config(workload: Workload) -> dict[str, Any]:
    """Returns --bert_config_file as a dict."""
    # Any, because the entries have different types.
    config: dict[str, Any] = json.loads(
        Path(workload["bert_config_file"]).read_text()
    )
    return config


def masked_positions(workload: Workload) -> np.ndarray:
    """Returns evenly spaced positions to mask in a sequence."""
    last = workload["seq_length"] - 1
    return np.linspace(0, last, workload["num_predictions"], dtype="int32")


def random_inputs(
    workload: Workload, vocab_size: int, num_batches: int = 1
) -> dict[str, np.ndarray]:
    """Returns {name of a feature: array}, with random ids and no padding.

    Each array is int32 [num_batches * batch_size, seq_length].
    """
    shape = num_batches * workload["batch_size"], workload["seq_length"]
    ids = np.random.default_rng(0).integers(vocab_size, size=shape)
    return {
        "input_ids": ids.astype("int32"),
        "input_mask": np.ones(shape, "int32"),
        "segment_ids": np.zeros(shape, "int32"),
    }


def read_corpus(
    workload: Workload, limit: int | None = None
) -> tuple[list[str], float]:
    """Returns `limit` nonempty lines of --corpus, and their size in MB."""
    lines = list(filter(None, Path(workload["corpus"]).read_text().split("\n")))
    lines = lines[:limit]
    return lines, sum(len(line.encode()) + 1 for line in lines) / 1e6


def read_mrpc_rows(workload: Workload) -> list[list[str]]:
    """Returns the rows of MRPC's train set: label, two ids, two sentences."""
    path = Path(workload["mrpc_dir"], "train.tsv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return list(rows)[1:]


def create_mrpc_work(
    workload: Workload, function: Callable[..., object]
) -> Work:
    """Returns a Work that calls a function on batches of MRPC's texts.

    Args:
        workload: settings of the contestant. If the row's name begins with
            "pair", the texts are pairs of sentences. Otherwise they are single
            sentences.
        function: function of a list of sentences. For pairs, function of a
            list of first sentences and a list of second sentences.
    """
    rows = read_mrpc_rows(workload)
    size = workload["batch_size"]
    columns = (3, 4) if workload["name"].startswith("pair") else (3,)

    def repeat(num_steps: int) -> None:
        # Sort all texts by length, as a user would sort the texts of a file.
        texts = [
            [row[column] for column in columns]
            for row in rows[: num_steps * size]
        ]
        texts.sort(key=lambda pair: sum(map(len, pair)))
        for start in range(0, len(texts), size):
            chosen = texts[start : start + size]
            function(*map(list, zip(*chosen, strict=True)))

    return Work(repeat, size)


def read_first_pairs(workload: Workload) -> list[tuple[str, str]]:
    """Returns (question, passage) pairs for 200 questions of --squad_file."""
    pairs = [
        (question["question"].strip(), paragraph["context"])
        for article in json.loads(Path(workload["squad_file"]).read_text())[
            "data"
        ]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    return pairs[:200]


class Contestant:
    """A process that does its work, and times it, each time `repeat` is called.

    Args:
        name: name of a module of benchmarks.contestants.
        workload: settings of the contestant, without its folder.
        folder: folder in which to create the folder of the process.
        stack: ExitStack on which to register `close`.

    Attributes:
        ready: what the process sent after its warm-up.
        measurements: what the process sent after each repeat.
    """

    def __init__(
        self,
        name: str,
        workload: Workload,
        folder: str,
        stack: contextlib.ExitStack,
    ) -> None:
        self.name = name
        self.measurements: list[Measurement] = []
        self.workload: Workload = {
            **workload,
            "folder": tempfile.mkdtemp(dir=folder),
        }
        self._connection, theirs = PROCESSES.Pipe()
        arguments = name, self.workload, theirs
        self._process = PROCESSES.Process(target=run_contestant, args=arguments)
        self._process.start()
        stack.callback(self.close)
        theirs.close()
        self.ready: ReadyMessage = self._read()

    def _read(self) -> Any:  # noqa: ANN401  what `run_contestant` sends next
        try:
            return self._connection.recv()
        except EOFError:
            log = Path(self.workload["folder"], "log").read_text()
            self.close()
            raise RuntimeError("\n".join(log.splitlines()[-15:])) from None

    def repeat(self) -> None:
        """Lets the process time one repeat."""
        # Wait until the threads of the previous contestant are idle.
        time.sleep(0.2)
        self._connection.send(True)
        self.measurements.append(self._read())

    def seconds(self) -> float:
        """Returns the median time of a repeat in seconds."""
        return statistics.median(
            measurement["seconds"] for measurement in self.measurements
        )

    def close(self) -> None:
        """Kills the process and its children, if they still run.

        Without this call, Python would wait for the process before it exits.
        """
        if self._connection.closed:
            return
        self._connection.close()
        # The process was started, so it has an id. If the process has only just
        # started, its process group does not exist yet.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(cast("int", self._process.pid), signal.SIGKILL)
        self._process.kill()
        self._process.join()
        shutil.rmtree(self.workload["folder"], ignore_errors=True)
