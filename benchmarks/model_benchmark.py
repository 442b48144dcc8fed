"""Times this project beside KerasHub and transformers, in one run.

    make bench   # the short form, in an environment of its own

    python benchmarks/model_benchmark.py --minilm_dir=DIR --mrpc_dir=DIR \
        --squad_file=dev-v1.1.json --output_file=results.json

Each contestant is a process that builds its model, warms up, and then makes
one timed repeat whenever its turn comes; only one computes at a time, and the
turns go round, so that all share the machine's good and bad minutes. A row
has the median of the repeats. Where a peer can work in several ways, each is
tried once and the fastest stays.

MFU is the operations of the work over its seconds, as a share of the rate of
a product of two 2048 x 2048 matrices in the same precision: the best of
TensorFlow's and torch's, measured before and after the row. Operations are
those of the matrix products without padding: `training.report.training_flops`,
in words 3 (forward and two gradients) x 2 x (layers x length x (4 W^2 + 2 W I
+ 2 length W) + predictions x (W^2 + W vocabulary) + W^2) a sequence, W the
hidden and I the intermediate size; a third of it where nothing is trained.

`ratio` is the seconds of the fastest peer in the row over the contestant's:
above 1 it is faster. Memory is the most that the process ever held, warm-up
included. The rows (BERT-Base unless said otherwise, or --bert_config_file):

    pretrain   a step on 16 x 128, 20 predictions, with dropout, clipping and
               Adam with decay; KerasHub has no next sentence, and
               transformers predicts every position, not only the masked ones
    inference  the encoder, 8 x 128 and 1 x 16; KerasHub's and ours also with
               weights in bfloat16, ours also `packed`: with
               TF_ONEDNN_ASSUME_FROZEN_WEIGHTS=1, as the scripts have it that
               predict in bfloat16
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), batches of 32, at most 128 long; the short
               form makes 10 steps a repeat, in which lengths that are met
               for the first time weigh more than in the long form's 3 epochs
    squad      answering the first questions of --squad_file with MiniLM,
               windows of 384: windows, network and n best answers
    startup    from the start of run_classifier.py to its first step done,
               with the samples' text; `startup_tiny` has the samples' model
"""

import fnmatch
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from absl import app, flags

ROOT = Path(__file__).resolve().parent.parent
FLAGS = flags.FLAGS

# The package that a peer needs.
PEERS = {"keras_hub": "keras_hub", "transformers": "transformers"}
MRPC_EXAMPLES = 3668


class Row(NamedTuple):
    """One line of work.

    Attributes:
        work: name of the contestants' function.
        precision: float32 or bfloat16.
        variants: {contestant: the ways in which it may work}; None for what
            --our_flags says.
        target: how many times faster than the best peer this project should
            be, and its MFU; or its seconds.
        settings: what the contestants are told; `num_steps` in a repeat.
        repeats: how many.
        needs: flags that must be given.
    """

    work: str
    precision: str
    variants: dict
    target: str
    settings: dict
    repeats: int
    needs: tuple = ()


def define_flags():
    """Defines the flags."""
    flags.DEFINE_list("rows", ["*"], "Names or patterns of the rows to time.")
    flags.DEFINE_bool("full", False, "The long form.")
    flags.DEFINE_integer("repeats", None, "Repeats of each row.", 1)
    flags.DEFINE_multi_string(
        "our_flags",
        [""],
        "Flags of our scripts; each time it is given, another contestant.",
    )
    flags.DEFINE_list(
        "contestants", ["ours", *PEERS], "Which to time.", short_name="c"
    )
    flags.DEFINE_string(
        "bert_config_file",
        str(ROOT / "configs" / "uncased_L-12_H-768_A-12.json"),
        "The model of pretraining, inference and startup.",
    )
    flags.DEFINE_string("minilm_dir", None, "MiniLM as a Hugging Face folder.")
    flags.DEFINE_string("mrpc_dir", None, "Folder of MRPC's train.tsv.")
    flags.DEFINE_string("squad_file", None, "SQuAD v1.1's dev set.")
    flags.DEFINE_string("output_file", None, "Write the results as JSON.")


def both(float32, bfloat16):
    """Returns a dict of what goes with each precision."""
    return {"float32": float32, "bfloat16": bfloat16}


def create_rows():
    """Returns {name: Row}, the short form's or the long one's."""
    full, rows = FLAGS.full, {}
    # XLA takes a minute to compile a step, and has not paid.
    hub_training = ["", "jit"] if full else [""]

    def add(label, work, variants, targets, settings, repeats, needs=()):
        for precision, target in targets.items():
            rows[f"{label}_{precision}"] = Row(
                work,
                precision,
                {
                    name: of_precision and of_precision[precision]
                    for name, of_precision in variants.items()
                },
                target,
                # The repeat to begin with is warm-up too.
                {"warmup_steps": 0} | settings,
                repeats,
                needs,
            )

    autocast = both([""], ["autocast"])
    add(
        "pretrain",
        "pretrain",
        {
            "ours": None,
            "keras_hub": both(hub_training, hub_training),
            "transformers": autocast,
        },
        both("1.12 x, MFU 0.85", "1.35 x, MFU 0.77"),
        {
            "batch_size": 16,
            "seq_length": 128,
            "num_predictions": 20,
            "num_steps": 1,
            "warmup_steps": 1,
        },
        10 if full else 3,
    )
    policies = ["mixed_bfloat16", "bfloat16"]
    for batch_size, length, num_steps, targets in (
        (8, 128, 2, both("1.15 x", "1.2 x")),
        (1, 16, 20, both("1.3 x", "1.3 x")),
    ):
        add(
            f"inference_{batch_size}x{length}",
            "inference",
            {
                "ours": both(
                    ["float32", "float32 packed"],
                    [*policies, "bfloat16 packed"],
                ),
                "keras_hub": both([""], policies),
                "transformers": both([""], ["autocast", "bfloat16"]),
            },
            targets,
            {
                "batch_size": batch_size,
                "seq_length": length,
                "num_steps": num_steps,
                "warmup_steps": num_steps,
            },
            21 if full else 7,
        )
    add(
        "mrpc",
        "mrpc",
        {"ours": None, "transformers": autocast},
        both("2.5 x the original", "2 x"),
        {
            "batch_size": 32,
            "seq_length": 128,
            "num_steps": 3 * MRPC_EXAMPLES // 32 if full else 10,
        },
        3,
        ("minilm_dir", "mrpc_dir"),
    )
    add(
        "squad",
        "squad",
        {"ours": None, "transformers": both([""], ["autocast", "bfloat16"])},
        both("2 x", "1.5 x"),
        {
            "batch_size": 8,
            "seq_length": 384,
            "doc_stride": 128,
            "num_questions": 1000 if full else 200,
            "num_steps": 1,
        },
        3,
        ("minilm_dir", "squad_file"),
    )
    settings = {"batch_size": 16, "seq_length": 64, "num_steps": 1}
    for name, model in (
        ("startup", {}),
        (
            "startup_tiny",
            {"bert_config_file": str(ROOT / "samples" / "bert_config.json")},
        ),
    ):
        add(
            name,
            "startup",
            {"startup": {"float32": [""]}},
            {"float32": "10 s"},
            settings | model,
            7 if full else 3,
        )
    return rows


class Contestant:
    """A process that waits for its turn.

    Args:
        name: module of benchmarks.contestants.
        spec: what it is told to do.
        folder: where it may write.

    Attributes:
        ready: what it said once it was warm.
        replies: what it said after each repeat.
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
        # Threads of whoever was before come to rest.
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
    """The machine's rate, asked of every framework that is there."""

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
    # The fourth and the fifth are of no work.
    idle = sum(passed[3:5]) / max(sum(passed), 1)
    return (1 - idle) * os.cpu_count()


def say(text):
    """Tells how far the run is."""
    print(text, file=sys.stderr, flush=True)


def start(name, row, variant, folder):
    """Starts a contestant; returns None, and says so, where it fails."""
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
            # One look at something short would say little.
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
        ways = [variants] if variants else [[way] for way in FLAGS.our_flags]
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
    rate = max(rate[row.precision] for rate in rates)
    return contestants, rate, num_failed


def summarize(name, row, contestants, rate):
    """Returns a dict for each contestant of a row."""
    flops = max((each.ready["flops"] for each in contestants), default=0)
    peers = [seconds_of(each) for each in contestants if each.name in PEERS]
    num_steps = row.settings["num_steps"]
    results = []
    for each in contestants:
        seconds = seconds_of(each)
        notes = each.replies[-1]["notes"]
        num_sequences = each.ready["num_sequences"]
        if row.work == "mrpc":
            rest = 3 * MRPC_EXAMPLES / num_sequences
            notes = notes | {"three_epochs_seconds": seconds * rest}
        is_peer = each.name in PEERS
        results.append(
            {
                "row": name,
                "precision": row.precision,
                "contestant": each.name,
                "variant": each.variant,
                "seconds": seconds / num_steps,
                "all_seconds": [
                    reply["seconds"] / num_steps for reply in each.replies
                ],
                "sequences_per_second": num_sequences / seconds,
                "mfu": flops / seconds / rate if flops else None,
                "peak_memory_gib": each.replies[-1]["peak_memory_gib"],
                "ratio": min(peers) / seconds if peers else None,
                "target": None if is_peer else row.target,
                "notes": notes,
                "matmul_gflops_per_second": rate / 1e9,
                "versions": each.ready["versions"],
            }
        )
    return results


def show(results):
    """Prints the table, and what it was measured with."""
    names = ("row", "contestant", "seconds", "seq/s", "MFU", "memory GiB")
    lines = [(*names, "ratio", "target", "notes")]
    for result in results:
        notes = [f"{k} {v:.2f}" for k, v in result["notes"].items()]
        lines.append(
            (
                result["row"],
                f"{result['contestant']} {result['variant']}".strip(),
                f"{result['seconds']:.4f}",
                f"{result['sequences_per_second']:.2f}",
                f"{result['mfu']:.2f}" if result["mfu"] else "",
                f"{result['peak_memory_gib']:.2f}",
                f"{result['ratio']:.2f}" if result["ratio"] else "",
                result["target"] or "",
                ", ".join(notes),
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = [
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ]
        print(f"| {' | '.join(cells)} |")
    for precision in ("float32", "bfloat16"):
        rates = [
            result["matmul_gflops_per_second"]
            for result in results
            if result["precision"] == precision
        ]
        if rates:
            print(
                f"matrix product, {precision}: {min(rates):,.0f} to "
                f"{max(rates):,.0f} GFLOP/s"
            )
    versions = {}
    for result in results:
        versions |= result["versions"]
    print(", ".join(f"{name} {versions[name]}" for name in sorted(versions)))


def write(results, path):
    """Writes the results as JSON."""
    content = {
        "command": sys.argv[1:],
        "python": platform.python_version(),
        "processor": processor(),
        "num_processors": os.cpu_count(),
        "results": results,
    }
    Path(path).write_text(json.dumps(content, indent=2) + "\n")


def processor():
    """Returns the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line for line in lines if line.startswith("model name")]
    return names[0].split(": ")[1] if names else platform.processor()


def main(_):
    """Times the rows, and prints the table."""
    rows = {
        name: row
        for name, row in create_rows().items()
        if any(fnmatch.fnmatch(name, pattern) for pattern in FLAGS.rows)
    }
    names = []
    for name in FLAGS.contestants:
        if name in PEERS and not importlib.util.find_spec(PEERS[name]):
            print(f"{name} is not installed: not timed")
        else:
            names.append(name)
    results, num_failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        matmul_rate = MatmulRate(names, folder)
        for name, row in rows.items():
            missing = [
                f"--{flag}" for flag in row.needs if not FLAGS[flag].value
            ]
            if missing:
                print(f"{name} needs {' and '.join(missing)}: not timed")
                continue
            say(name)
            *timed, failed = time_row(row, names, matmul_rate, folder)
            num_failed += failed
            results += summarize(name, row, *timed)
            if FLAGS.output_file:
                # After each row, so that an interrupted run leaves something.
                write(results, FLAGS.output_file)
        matmul_rate.close()
    show(results)
    # What failed has said so.
    return int(num_failed > 0)


if __name__ == "__main__":
    define_flags()
    app.run(main)
