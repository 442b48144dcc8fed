"""Runs the work of one contestant in a process of its own.

The parent starts `python -m benchmarks.contestants.NAME SPEC` and reads JSON
lines: the first one when the work is built and warm, then one for each line
that it writes. In between the process waits and takes no time.
"""

import csv
import json
import os
import resource
import sys
import time
from typing import Any, NamedTuple


class Work(NamedTuple):
    """The work to time.

    Attributes:
        repeat: (num_steps) -> dict of notes on this repeat, or None.
        num_sequences: sequences in a step.
        flops: operations of a step's matrix products, padding left out; 0
            where nobody asks.
    """

    repeat: Any
    num_sequences: float
    flops: float = 0.0


def mrpc_rows(spec):
    """Returns the rows of MRPC's train set: label, two ids, two sentences."""
    with open(
        os.path.join(spec["mrpc_dir"], "train.tsv"),
        encoding="utf-8-sig",
        newline="",
    ) as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return list(rows)[1:]


def batches_of_sentences(rows, num_steps, batch_size):
    """Yields the first `num_steps` lists of `batch_size` first sentences."""
    texts = [row[3] for row in rows[: num_steps * batch_size]]
    for start in range(0, len(texts), batch_size):
        yield texts[start : start + batch_size]


def serve(works, versions):
    """Builds the work of the SPEC, warms up, and times it on request.

    Args:
        works: {name: (spec) -> Work}.
        versions: () -> {package: version}, once the work is built.
    """
    spec = json.loads(sys.argv[1])
    loaded = _peak_memory_gib()
    # Libraries print to the standard output; it must hold nothing but JSON.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(**content):
        content["peak_memory_gib"] = _peak_memory_gib()
        replies.write(json.dumps(content) + "\n")
        replies.flush()

    work = works[spec["work"]](spec)
    if spec["warmup_steps"]:
        work.repeat(spec["warmup_steps"])
    num_steps = spec["num_steps"]
    reply(
        num_sequences=num_steps * work.num_sequences,
        flops=num_steps * work.flops,
        versions=versions(),
        loaded_gib=loaded,
    )
    for _ in sys.stdin:
        started = time.perf_counter()
        notes = work.repeat(num_steps)
        reply(seconds=time.perf_counter() - started, notes=notes or {})


def _peak_memory_gib():
    peaks = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return max(peaks) / 2**20
