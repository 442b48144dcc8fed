"""Runs the project's scripts as a user does, each in a process of its own.

The processes are forked from one that has TensorFlow and the project loaded
(multiprocessing's fork server), which saves each of them seconds of start-up;
the script itself is read from its file and run as `__main__`, with a command
line, standard streams and an exit status of its own.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import multiprocessing
import os
import re
import runpy
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.golden import ROOT

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# No power is cut in tests, and a run waits for the disk 40 times. A number that
# is no file's is an error here too.
FSYNC = os.fsync
os.fsync = os.fstat

# Modules of the scripts: those of tools/ have a dot, and run with -m.
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (*ROOT.glob("*.py"), *ROOT.glob("tools/*.py"))
    if "\ncommand = " in path.read_text()
)
SAMPLES = ROOT / "examples/samples"
TIMEOUT = 300.0
PROCESSES = multiprocessing.get_context("forkserver")


def _project_modules():
    """Returns the modules that scripts import sooner or later.

    Without runtimes, which start threads, and what only the server needs.
    """
    found = []
    for package in ("files", "modeling", "data", "training", "serving"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if not {"__init__", "engines", "server"} & {*parts}:
                found.append(".".join(parts))
    return found


# Imports alone: a process must not be forked from one in which TensorFlow has
# started its threads. The last one sees all others.
PRELOADED = [
    *("tensorflow", "keras", "tensorflow_text", "sklearn.metrics"),
    *("tensorflow.io", "tensorflow.summary", "tensorboard.summary.v1"),
    *("tensorboard.plugins.hparams.api", "encodings.utf_8_sig"),
    *_project_modules(),
    *("tests.script_runner", "tests.frozen"),
]
PROCESSES.set_forkserver_preload(PRELOADED)
# A start also asks all other processes whether they have ended. Where two
# threads ask at once, one gets the exit status and the other 255.
_ASKING = threading.Lock()


def parse_flags(text):
    """Returns {name: value} of flags as a command has them: --name=value ..."""
    pairs = (flag.partition("=") for flag in text.split())
    return {name[2:]: value if sep else True for name, sep, value in pairs}


def fine_tuning_flags(folder, model, **flags):
    """Returns the flags of a short run that does all that a task can."""
    text = f"""
        --bert_config_file={model}/bert_config.json
        --vocab_file={SAMPLES}/vocab.txt
        --max_seq_length=24 --train_batch_size=4
        --do_train --do_eval --do_predict
    """
    # Their names may have spaces.
    folders = {"data_dir": folder, "output_dir": folder / "run"}
    return parse_flags(text) | folders | flags


@dataclasses.dataclass(frozen=True)
class Done:
    """Status and output of a script that ended."""

    status: int
    stdout: str
    stderr: str

    def check(self):
        """Returns this, after a look that all went well."""
        assert self.status == 0, self.stderr
        return self

    @property
    def error(self):
        """The one line that says what was wrong; there must be just one."""
        assert self.status == 1, f"status {self.status}\n{self.stderr}"
        assert "Traceback" not in self.stderr, self.stderr
        lines = [
            line
            for line in self.stderr.splitlines()
            if line.startswith("error: ")
        ]
        assert len(lines) == 1, self.stderr
        assert self.stderr.endswith(lines[0] + "\n"), self.stderr
        return lines[0]


class Running:
    """A script that runs; it is killed where the block ends before it does."""

    def __init__(self, script, cwd, arguments, environment, flags):
        given = {k: v for k, v in flags.items() if v is not None}
        arguments = [*arguments, *(f"--{k}={v}" for k, v in given.items())]
        self._folder = tempfile.TemporaryDirectory()
        self._streams = [
            os.path.join(self._folder.name, name) for name in ("out", "err")
        ]
        for path in self._streams:
            # The script may be killed before it opens them.
            Path(path).touch()
        self._process = PROCESSES.Process(
            target=_run_script,
            args=(str(script), arguments, cwd, self._streams, environment),
        )
        with _ASKING:
            self._process.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.finish()

    def is_alive(self):
        with _ASKING:
            return self._process is not None and self._process.is_alive()

    def stderr(self):
        """Returns what it has written to stderr so far."""
        if self._process is None:
            return self._done.stderr
        path = Path(self._streams[1])
        return path.read_text(errors="replace") if path.exists() else ""

    def memory(self):
        """Returns the resident memory, of its processes too, in MB."""
        return resident(self._process.pid)

    def send(self, number):
        """Sends a signal."""
        os.kill(self._process.pid, number)

    def kill(self):
        if self.is_alive():
            self._process.kill()

    def finish(self, timeout=TIMEOUT):
        """Returns the Done of a script that ends, or is killed in the end."""
        if self._process is None:
            return self._done
        end = time.monotonic() + timeout
        while self.is_alive():
            if time.monotonic() > end:
                self.kill()
            time.sleep(0.02)
        with _ASKING:
            self._process.join()
        texts = (Path(p).read_text(errors="replace") for p in self._streams)
        self._done = Done(self._process.exitcode, *texts)
        self._process.close()
        self._process = None
        self._folder.cleanup()
        return self._done


def resident(pid):
    """Returns the resident memory of a process and its children, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    # One that has just ended has none.
    found = re.search(r"VmRSS:\s+(\d+)", status)
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return int(found[1] if found else 0) / 1000 + sum(map(resident, children))


def start(script, cwd, *arguments, environment=None, **flags):
    """Starts a script of the project in a folder, by its file or its module.

    `environment` is added to the variables. A flag whose value is None is
    left out.
    """
    return Running(script, cwd, arguments, environment, flags)


def run(script, cwd, *arguments, kill_when=lambda: False, **flags):
    """Runs a script of the project in a folder.

    To its end, or until `kill_when` returns True; then the script is killed.
    """
    with start(script, cwd, *arguments, **flags) as script:
        end = time.monotonic() + TIMEOUT
        while script.is_alive():
            if kill_when() or time.monotonic() > end:
                script.kill()
                break
            time.sleep(0.02)
        return script.finish()


def run_all(commands):
    """Runs (script, folder, flags) commands two at a time; one Done each.

    Those that write the same folder run one after the other, as a second one
    would be refused.
    """
    in_use = collections.defaultdict(threading.Lock)

    def run_alone(command):
        script, cwd, flags = command
        outputs = {
            os.path.join(cwd, flags[name])
            for name in ("output_dir", "export_dir", "export_weights")
            if flags.get(name)
        }
        with contextlib.ExitStack() as stack:
            for output in sorted(outputs):
                stack.enter_context(in_use[output])
            return run(script, cwd, **flags)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(run_alone, commands))


def run_each(script, folder, flags, changes):
    """Runs a script once for each dict of changes to its flags; a Done each."""
    return run_all([(script, folder, {**flags, **more}) for more in changes])


def read_results(folder, name="eval_results.txt"):
    """Returns {name: value} of the results that a run wrote."""
    lines = (folder / name).read_text().splitlines()
    return {k: float(v) for k, v in (line.split(" = ") for line in lines)}


def read_lines(path):
    """Returns what each line of a file of JSON lines holds."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def create_records(folder, output_file, **flags):
    """Makes records for pretraining of the sample corpus, in a folder."""
    defaults = parse_flags(f"""
        --input_file={SAMPLES}/corpus.txt --vocab_file={SAMPLES}/vocab.txt
        --max_seq_length=32 --max_predictions_per_seq=5 --dupe_factor=1
    """)
    flags = defaults | flags | {"output_file": output_file}
    run("create_pretraining_data.py", folder, **flags).check()


def write_on_devices(path, code, count=2):
    """Writes a script that runs code on devices made of one CPU."""
    path.write_text(f"""
import runpy
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * {count}
)
{code}
""")
    return path


def documented_flags():
    """Returns {script: names of its flags} as docs/flags.md has them.

    A test of the pages keeps those what the scripts' --help lists.
    """
    page = (ROOT / "docs" / "flags.md").read_text(encoding="utf-8")
    tables = dict(
        re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    )
    names = {
        title: set(re.findall(r"^\| `--(\w+)`", table, re.M))
        for title, table in tables.items()
    }
    return {
        script: names[script].union(
            *(names[title] for title in re.findall(r"\[(.+?)\]\(#", table))
        )
        for script, table in tables.items()
        if "\nShared flags:" in table
    }


def snapshot(folder):
    """Returns what stands in a folder: paths, times and contents."""
    return {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def check_errors(folder, script, flags, cases):
    """Runs commands that are to be refused; checks what each one says.

    Args:
        folder: the folder that they run in.
        script: the script.
        flags: its flags that are well.
        cases: for each command the flags to change, a str of --name=value,
            and the parts that the error must have.
    """
    changes = []
    for number, (text, *_) in enumerate(cases):
        changes.append(parse_flags(text))
        if {**flags, **changes[-1]}.get("output_dir") == "out":
            # Two commands at once do not share a folder.
            changes[-1]["output_dir"] = f"out{number}"
    found = run_each(script, folder, flags, changes)
    for done, (text, *parts) in zip(found, cases, strict=True):
        lost = [part for part in parts if part not in done.error]
        assert not lost, f"{text}: {done.error}"


def check_refusals(folder, script, flags, cases):
    """Checks errors as `check_errors` does, and that they leave no trace."""
    before = snapshot(folder)
    check_errors(folder, script, flags, cases)
    after = snapshot(folder)
    names = {*before, *after}
    assert not [one for one in names if before.get(one) != after.get(one)]


def _run_script(script, arguments, cwd, streams, environment):
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.update(environment or {})
    os.chdir(cwd)
    # As `python script.py` and `python -m tools.script` would have it.
    sys.path[0] = str(ROOT)
    if script.endswith(".py"):
        sys.argv = [str(ROOT / script), *arguments]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        sys.argv = [script, *arguments]
        runpy.run_module(script, run_name="__main__", alter_sys=True)
