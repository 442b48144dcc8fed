"""Writes CSV files of generated tickets, and times scripts that answer them.

A script starts, loads its model, reads the tickets, and writes a CSV file with
the answers. All of this is timed, in this project and in other libraries.
"""

import contextlib
import csv
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from benchmarks import timing

# A process answers complete CSV files, so several processes need several files.
NUM_FILES = 8
SHORTEST, LONGEST = 3, 300
NUM_WARMUP_TEXTS = 32
SECONDS_PER_SAMPLE = 0.2


def create_texts(workload: timing.Workload, num_texts: int) -> list[str]:
    """Returns texts of 3 to 300 words, half of them with less than 30.

    The words follow one another as in MRPC's sentences. The seed is fixed.
    """
    rows = timing.read_mrpc_rows(workload)
    words = " ".join(sentence for row in rows for sentence in row[3:5]).split()
    generator = random.Random(0)
    texts = []
    for _ in range(num_texts):
        # The logarithm of the length has a uniform distribution.
        ratio = (LONGEST / SHORTEST) ** generator.random()
        start = generator.randrange(len(words) - LONGEST)
        texts.append(" ".join(words[start : start + round(SHORTEST * ratio)]))
    return texts


def write_tickets(path: Path, texts: Sequence[str]) -> None:
    """Writes a CSV file with the columns id and text."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows(enumerate(texts, start=1))


def count_rows(folder: str) -> int:
    """Returns the number of answers in all CSV files of a folder."""
    num_rows = 0
    for path in Path(folder).glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            num_rows += sum(1 for _ in csv.DictReader(file))
    return num_rows


def measure_memory() -> int:
    """Returns the resident memory of this process's children in bytes.

    Memory that processes share is counted for each of these processes.
    """
    pages = 0
    for name in filter(str.isdecimal, os.listdir("/proc")):
        # A process may end at any time.
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            is_child = os.getpgid(int(name)) == os.getpid() != int(name)
            if is_child:
                statistics = Path(f"/proc/{name}/statm").read_text()
                pages += int(statistics.split()[1])
    return pages * resource.getpagesize()


def run_script(command: Sequence[str]) -> tuple[float, float]:
    """Runs a script to its end.

    Returns (processor seconds, peak memory in GiB) of all processes of the
    script.

    Raises:
        SystemExit: the script failed. Unlike the traceback of another error,
            this leaves the script's own message at the end of the log.
    """
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = 0
    with subprocess.Popen(command) as process:
        while process.returncode is None:
            peak = max(peak, measure_memory())
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_PER_SAMPLE)
    if process.returncode:
        sys.exit(f"status {process.returncode} of {shlex.join(command)}")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime - begun.ru_utime + ended.ru_stime - begun.ru_stime
    return seconds, peak / 2**30


class CreateCommand(Protocol):
    """Returns the command with which a script answers tickets."""

    def __call__(
        self, path: Path, pattern: Path, output: str, /
    ) -> Sequence[str | Path]:
        """Returns the command.

        Args:
            path: CSV file of all tickets.
            pattern: pattern of several files with the same tickets.
            output: CSV file to write, or the beginning of the names of several
                files.
        """


def create_tickets_work(
    workload: timing.Workload, create_command: CreateCommand
) -> timing.Work:
    """Returns a Work that lets a script answer the tickets.

    Args:
        workload: settings of the contestant. "num_texts" is the number of
            tickets.
        create_command: function that returns the command of the script.
    """
    folder = Path(workload["folder"])
    texts = create_texts(workload, workload["num_texts"])
    write_tickets(folder / "all.csv", texts)
    for index in range(NUM_FILES):
        write_tickets(folder / f"part-{index}.csv", texts[index::NUM_FILES])
    warmup = folder / "warmup.csv"
    write_tickets(warmup, texts[:NUM_WARMUP_TEXTS])

    def run(path: Path, pattern: Path, num_texts: int) -> dict[str, float]:
        output = tempfile.mkdtemp(dir=folder)
        command = create_command(path, pattern, f"{output}/answers.csv")
        cpu_seconds, memory = run_script(list(map(str, command)))
        num_rows = count_rows(output)
        if num_rows != num_texts:
            raise RuntimeError(f"{num_rows} answers for {num_texts} texts")
        per_thousand = 1000 * cpu_seconds / num_texts
        return {"CPU s/1,000 texts": per_thousand, "GiB": memory}

    # Let the system read the libraries from the disk before the first repeat.
    run(warmup, warmup, min(len(texts), NUM_WARMUP_TEXTS))
    return timing.Work(
        lambda _: run(folder / "all.csv", folder / "part-*.csv", len(texts)),
        len(texts),
    )
