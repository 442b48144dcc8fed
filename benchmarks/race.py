"""Races: contestants in processes of their own are timed in turns.

Each `Contestant` is a process, in which `serve` builds the work of a module of
benchmarks.contestants, warms it up, and then times one repeat whenever the
parent asks. In between the process waits and takes no processor time.
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
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
NUM_THREADS = len(os.sched_getaffinity(0))
# Of CoNLL-2003.
TAGS = [f"{b}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for b in "BI"]
TAGS = ["O", *TAGS]
PROCESSES = multiprocessing.get_context("spawn")


class Work(NamedTuple):
    """The work that a contestant times.

    Attributes:
        repeat: (num_steps) -> dict of notes on this repeat, or anything else.
        num_sequences: sequences in a step.
        flops: operations of a step's matrix products, padding left out; 0 if
            they are not counted.
    """

    repeat: Any
    num_sequences: float
    flops: float = 0.0


def serve(name, spec, connection):
    """Builds the work of a contestant, warms up, and times it on request.

    Args:
        name: module of benchmarks.contestants, which has the function that the
            spec names, (spec) -> Work, and PACKAGES, whose versions count.
        spec: the work and its settings.
        connection: to the parent.
    """
    # So that its children end with it.
    os.setsid()
    os.chdir(ROOT)
    with Path(spec["folder"], "log").open("w") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    if spec["device"] == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    module = importlib.import_module(f"benchmarks.contestants.{name}")
    versions = {}
    for package in module.PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    loaded = _peak_memory_gib()
    work, num_steps = getattr(module, spec["work"])(spec), spec["num_steps"]
    if spec["warmup_steps"]:
        work.repeat(spec["warmup_steps"])
    ready = {"num_sequences": num_steps * work.num_sequences}
    ready |= {"flops": num_steps * work.flops, "versions": versions}
    connection.send(ready | {"loaded_gib": loaded})
    while connection.recv():
        started = time.perf_counter()
        notes = work.repeat(num_steps)
        reply = {"seconds": time.perf_counter() - started}
        reply["notes"] = notes if isinstance(notes, dict) else {}
        connection.send(reply | {"peak_memory_gib": _peak_memory_gib()})


def _peak_memory_gib():
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 2**20


def read_config(spec):
    """Returns the entries of --bert_config_file."""
    return json.loads(Path(spec["bert_config_file"]).read_text())


def masked_positions(spec):
    """Returns evenly spaced positions, one for each prediction."""
    last, number = spec["seq_length"] - 1, spec["num_predictions"]
    return np.linspace(0, last, number, dtype="int32")


def random_inputs(spec, vocab_size, num_batches=1):
    """Returns random features without padding, int32 [batch, length]."""
    shape = num_batches * spec["batch_size"], spec["seq_length"]
    ids = np.random.default_rng(0).integers(vocab_size, size=shape)
    return {
        "input_ids": ids.astype("int32"),
        "input_mask": np.ones(shape, "int32"),
        "segment_ids": np.zeros(shape, "int32"),
    }


def read_corpus(spec):
    """Returns the lines of --corpus, and their megabytes."""
    lines = list(filter(None, Path(spec["corpus"]).read_text().split("\n")))
    return lines, sum(len(line.encode()) + 1 for line in lines) / 1e6


def mrpc_rows(spec):
    """Returns the rows of MRPC's train set: label, two ids, two sentences."""
    path = Path(spec["mrpc_dir"], "train.tsv")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return list(rows)[1:]


def batches_of_texts(spec):
    """Returns a function from num_steps to batches of MRPC's texts.

    A batch is a list of sentences, or two lists of pairs where the row is named
    so. Those of one call are sorted by length, as a user with a file would.
    """
    rows, size = mrpc_rows(spec), spec["batch_size"]
    columns = (3, 4) if spec["name"].startswith("pair") else (3,)

    def batches(num_steps):
        texts = [[row[c] for c in columns] for row in rows[: num_steps * size]]
        texts.sort(key=lambda each: sum(map(len, each)))
        for start in range(0, len(texts), size):
            chosen = texts[start : start + size]
            yield [list(column) for column in zip(*chosen, strict=True)]

    return batches


def tagged_sentences(spec):
    """Returns the first 1,000 sentences of --conll_file, as texts."""
    content = Path(spec["conll_file"]).read_text()
    sentences = [
        " ".join(line.split()[0] for line in block.split("\n") if line.strip())
        for block in content.split("\n\n")
        if not block.startswith("-DOCSTART-")
    ]
    return list(filter(None, sentences))[:1000]


def first_questions(spec):
    """Writes 200 questions of --squad_file; returns the path."""
    content = json.loads(Path(spec["squad_file"]).read_text())
    left = 200
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            paragraph["qas"] = paragraph["qas"][:left]
            left -= len(paragraph["qas"])
        article["paragraphs"] = [
            each for each in article["paragraphs"] if each["qas"]
        ]
    path = Path(spec["folder"], "questions.json")
    path.write_text(json.dumps(content))
    return str(path)


def first_pairs(spec):
    """Returns those 200 questions, each with its passage."""
    content = json.loads(Path(first_questions(spec)).read_text())
    return [
        (question["question"].strip(), paragraph["context"])
        for article in content["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


class Contestant:
    """A process that waits for its turn.

    Args:
        name: module of benchmarks.contestants.
        spec: its work and settings.
        folder: where it may write.
        stack: ExitStack that closes it.

    Attributes:
        ready: its reply once it was warm.
        replies: its replies after each repeat.
    """

    def __init__(self, name, spec, folder, stack):
        self.name, self.replies = name, []
        self.spec = spec | {"folder": tempfile.mkdtemp(dir=folder)}
        self._connection, theirs = PROCESSES.Pipe()
        arguments = name, self.spec, theirs
        self._process = PROCESSES.Process(target=serve, args=arguments)
        self._process.start()
        stack.callback(self.close)
        theirs.close()
        self.ready = self._read()

    def _read(self):
        try:
            return self._connection.recv()
        except EOFError:
            log = Path(self.spec["folder"], "log").read_text()
            self.close()
            raise RuntimeError("\n".join(log.splitlines()[-15:])) from None

    def repeat(self):
        """Makes one timed repeat; returns its notes."""
        # The previous contestant's threads come to rest.
        time.sleep(0.2)
        self._connection.send(True)
        self.replies.append(self._read())
        return self.replies[-1]["notes"]

    def seconds(self, average=statistics.median):
        """Returns the median of the repeats so far, or another average."""
        return average(reply["seconds"] for reply in self.replies)

    def close(self):
        """Ends the process and its children, unless that is done.

        Python waits at its end for each process that is still there.
        """
        if self._connection.closed:
            return
        self._connection.close()
        # A process that has just been started has no group of its own yet.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        shutil.rmtree(self.spec["folder"], ignore_errors=True)


def take_turns(contestants, repeats):
    """Lets each contestant make its repeats, in turns."""
    if (busy := busy_processors()) > 0.2:
        say(f"  OTHER WORK keeps {busy:.1f} processors busy: no fair times")
    for _ in range(repeats):
        for each in contestants:
            each.repeat()


def busy_processors(stat="/proc/stat"):
    """Returns how many processors others keep busy while all here wait."""
    if not Path(stat).exists():
        # Only Linux counts them there.
        return 0.0
    ticks = []
    for _ in range(2):
        line = Path(stat).read_text().split("\n", 1)[0]
        ticks.append(np.array(line.split()[1:9], int))
        time.sleep(0.5)
    passed = ticks[1] - ticks[0]
    # The fourth and the fifth count idle time.
    return (1 - passed[3:5].sum() / passed.sum()) * os.cpu_count()


def say(text):
    """Reports the progress of the run."""
    print(text, file=sys.stderr, flush=True)
