"""Contestants of a row, each in a process of its own, timed in turns."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from absl import flags

from benchmarks.rows import ROOT

FLAGS = flags.FLAGS

# The package that a peer needs.
PEERS = {"keras_hub": "keras_hub", "transformers": "transformers"}


class Contestant:
    """A process that waits for its turn.

    Args:
        name: module of benchmarks.contestants.
        spec: its work and settings.
        folder: where it may write.

    Attributes:
        ready: its reply once it was warm.
        replies: its replies after each repeat.
        variant: the way in which it works.
    """

    def __init__(self, name, spec, folder):
        self.name, self.variant, self.replies = name, spec["variant"], []
        self._folder = tempfile.mkdtemp(dir=folder)
        self._log = Path(self._folder, "log")
        with open(self._log, "w") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    f"benchmarks.contestants.{name}",
                    json.dumps(spec | {"folder": self._folder}),
                ],
                cwd=ROOT,
                env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            self.ready = self._read()
        except RuntimeError:
            self.close()
            raise

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            lines = self._log.read_text().splitlines()
            raise RuntimeError("\n".join(lines[-15:]))
        return json.loads(line)

    def repeat(self):
        """Makes one timed repeat, and returns its seconds."""
        # The previous contestant's threads come to rest.
        time.sleep(0.2)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.replies.append(self._read())
        return self.replies[-1].get("seconds")

    def close(self):
        """Ends the process."""
        self._process.kill()
        self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)


class MatmulRate:
    """Measures the machine's rate with every installed framework."""

    def __init__(self, names, folder):
        spec = {"work": "matmul", "variant": ""}
        spec |= {"num_steps": 1, "warmup_steps": 0}
        self._contestants = [
            Contestant(name, spec, folder)
            for name in ("ours", "transformers")
            if name in names
        ]

    def __call__(self):
        """Returns {precision: operations a second}."""
        for contestant in self._contestants:
            contestant.repeat()
        notes = [each.replies[-1]["notes"] for each in self._contestants]
        return {
            precision: max(rates[precision] for rates in notes)
            for precision in ("float32", "bfloat16")
        }

    def close(self):
        """Ends the processes."""
        for contestant in self._contestants:
            contestant.close()


def busy_processors():
    """Returns how many processors others keep busy while all here wait."""
    try:
        ticks = []
        for _ in range(2):
            line = Path("/proc/stat").read_text().split("\n", 1)[0]
            ticks.append([int(value) for value in line.split()[1:9]])
            time.sleep(0.5)
    except OSError:
        return 0.0
    passed = [last - first for first, last in zip(*ticks, strict=True)]
    # The fourth and the fifth count idle time.
    idle = sum(passed[3:5]) / max(sum(passed), 1)
    return (1 - idle) * os.cpu_count()


def say(text):
    """Reports the progress of the run."""
    print(text, file=sys.stderr, flush=True)


def start(name, row, variant, folder):
    """Starts a contestant; prints a failure and returns None."""
    spec = {
        "work": row.work,
        "precision": row.precision,
        "variant": variant,
        "bert_config_file": os.path.abspath(FLAGS.bert_config_file),
        **{flag: os.path.abspath(FLAGS[flag].value) for flag in row.needs},
        **row.settings,
    }
    if "num_questions" in spec:
        spec["squad_file"] = first_questions(
            spec["squad_file"], spec["num_questions"], folder
        )
    try:
        contestant = Contestant(name, spec, folder)
        seconds = contestant.repeat()
        if seconds < 2:
            # One short repeat says little.
            seconds = min(seconds, contestant.repeat(), contestant.repeat())
    except RuntimeError as error:
        say(f"  {name} {variant} FAILED:\n{error}")
        return None
    say(f"  {name} {variant}: {seconds:.3f} s, to begin with")
    return contestant


def start_fastest(name, row, variants, folder):
    """Starts a contestant in each of its ways; the fastest stays."""
    best = None
    for variant in variants:
        contestant = start(name, row, variant, folder)
        if contestant is None:
            continue
        slower = contestant
        if best is None or seconds_of(contestant, min) < seconds_of(best, min):
            best, slower = contestant, best
        if slower is not None:
            slower.close()
    return best


def seconds_of(contestant, average=statistics.median):
    """Returns the median of a contestant's repeats, or another average."""
    return average(reply["seconds"] for reply in contestant.replies)


def first_questions(path, num_questions, folder):
    """Writes the first questions of a SQuAD file; returns its path."""
    content = json.loads(Path(path).read_text())
    left = num_questions
    for article in content["data"]:
        for paragraph in article["paragraphs"]:
            paragraph["qas"] = paragraph["qas"][:left]
            left -= len(paragraph["qas"])
    for article in content["data"]:
        article["paragraphs"] = [
            paragraph for paragraph in article["paragraphs"] if paragraph["qas"]
        ]
    chosen = Path(folder, "questions.json")
    chosen.write_text(json.dumps(content))
    return str(chosen)


def time_row(row, names, matmul_rate, folder):
    """Times all contestants of a row.

    Returns:
        those that did not fail, the machine's operations a second, and how
        many failed.
    """
    contestants = []
    for name, variants in row.variants.items():
        if (name if name in PEERS else "ours") not in names:
            continue
        # Of our own flags all are of interest, not only the fastest.
        if variants is None:
            ways = [[way] for way in FLAGS.our_flags]
        else:
            ways = variants if isinstance(variants[0], list) else [variants]
        for way in ways:
            contestants.append(start_fastest(name, row, way, folder))
    num_failed = contestants.count(None)
    contestants = [each for each in contestants if each is not None]
    try:
        for each in contestants:
            each.replies.clear()
        if (busy := busy_processors()) > 0.2:
            say(f"  OTHER WORK keeps {busy:.1f} processors busy: no fair times")
        rates = [matmul_rate()]
        for _ in range(FLAGS.repeats or row.repeats):
            for each in contestants:
                each.repeat()
        rates.append(matmul_rate())
    finally:
        for each in contestants:
            each.close()
    # Operations of int8 are no floating-point ones.
    rate = max(rate.get(row.precision, 0.0) for rate in rates)
    return contestants, rate, num_failed
