"""Records what the commands of a checkout make, to compare it with another's.

    python -m tests.recordings.record --checkout=DIR --output=DIR
    python -m tests.recordings.record --checkout=DIR --output=DIR --base=DIR

The first command records a base commit in about 8 minutes on two cores. The
second records another commit from the same inputs, lets it resume the runs that
the base has stopped, and compares. With --only, it runs only these commands,
and takes what they read from the folders of the base. So a later commit also
reads what the base wrote.

The output contains `work`, with a folder of each command, and `recorded`, with
a JSON file of each command: its exit status, output and files.
"""

import argparse
import concurrent.futures
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from importlib import metadata
from pathlib import Path

from files.paths import StrPath
from tests.recordings import ask_server, commands, compare, contents, inputs
from tests.recordings.command import Command

TIMEOUT_S = 600
# One thread sums in one order, and two processes do not wait for each other.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "CUDA_VISIBLE_DEVICES": "",
    "KERAS_BACKEND": "tensorflow",
    "HF_HUB_OFFLINE": "1",
    "COLUMNS": "80",
    "LC_ALL": "C.UTF-8",
}


class Recorder:
    """Runs commands of a checkout, and records what they make.

    Args:
        checkout: folder of the checkout, whose scripts are run.
        output: folder of the recording.
        base: folder of an earlier recording, whose inputs and stopped runs are
            used, or None.
    """

    def __init__(
        self, checkout: StrPath, output: StrPath, base: StrPath | None = None
    ) -> None:
        self.checkout = Path(checkout).resolve()
        self.output = Path(output).resolve()
        self.work = self.output / "work"
        self.base = Path(base).resolve() if base else None

    def record(self, only: str = "", jobs: int = 2) -> list[str]:
        """Records the commands that match `only`, or all.

        Returns:
            The names of the commands whose exit status was not the expected.
        """
        chosen = commands.select(only)
        # An earlier recording of a command is not one of this checkout.
        for name in chosen:
            self._path(name).unlink(missing_ok=True)
        if self.base:
            chosen = {
                name: command
                for name, command in chosen.items()
                if not command.stop_at
            }
        for name in self._required(chosen):
            if self.base:
                self._copy_from_base(self.base, name)
            else:
                chosen[name] = commands.COMMANDS[name]
        (self.output / "recorded").mkdir(parents=True, exist_ok=True)
        if self.base:
            self._copy_from_base(self.base, "inputs")
        elif not only or not (self.work / "inputs").exists():
            shutil.rmtree(self.work / "inputs", ignore_errors=True)
            samples = self.checkout / "examples/samples"
            inputs.write_inputs(self.work / "inputs", samples)
        about = self.output / "about.json"
        about.write_text(json.dumps(describe(self.checkout), indent=1))
        failed: list[str] = []
        futures: dict[str, Future[tuple[int, float]]] = {}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            # A command comes after those that it needs, so one of the commands
            # that have started can always go on.
            ordered = [
                command
                for command in commands.COMMANDS.values()
                if command.name in chosen
            ]
            for command in ordered:
                needs = [
                    futures[name] for name in command.needs if name in futures
                ]
                futures[command.name] = pool.submit(self._run, command, needs)
            for name, future in futures.items():
                status, seconds = future.result()
                right = status == commands.COMMANDS[name].status
                mark = "" if right else f"  STATUS {status}"
                print(f"{seconds:6.1f} s  {name}{mark}", flush=True)
                if not right:
                    failed.append(name)
        return failed

    def _required(self, chosen: Mapping[str, Command]) -> list[str]:
        """Returns the names of commands that others need, besides the chosen.

        Without a base, those that were recorded here need not run again.
        """
        order: list[str] = []
        left = [*chosen.values()]
        while left:
            for name in left.pop().needs:
                if name in chosen or name in order:
                    continue
                if self.base:
                    order.append(name)
                elif not self._path(name).exists():
                    order.append(name)
                    left.append(commands.COMMANDS[name])
        return order

    def _path(self, name: str) -> Path:
        return self.output / "recorded" / f"{name}.json"

    def _copy_from_base(self, base: Path, name: str) -> None:
        shutil.rmtree(self.work / name, ignore_errors=True)
        shutil.copytree(base / "work" / name, self.work / name)

    def _run(
        self, command: Command, needs: Sequence[Future[tuple[int, float]]]
    ) -> tuple[int, float]:
        """Runs a command and writes its recording.

        Returns its exit status, and how many seconds it took.
        """
        concurrent.futures.wait(needs)
        folder = self.work / command.name
        shutil.rmtree(folder, ignore_errors=True)
        if command.resumes:
            shutil.copytree(self.work / command.resumes, folder)
        folder.mkdir(exist_ok=True)
        begin_time = time.monotonic()
        status, stdout, stderr = self._execute(command, folder)
        seconds = time.monotonic() - begin_time
        places = {self.checkout: "CHECKOUT", self.output: "OUTPUT"}
        outcome: dict[str, object] = {
            "command": command.arguments,
            "status": status,
            "stderr": contents.normalize(stderr, places),
        }
        if not command.stop_at:
            if command.prints:
                outcome["stdout"] = contents.replace_places(stdout, places)
            else:
                outcome["messages"] = contents.normalize(stdout, places)
            outcome |= contents.describe(folder, places)
        text = json.dumps(outcome, indent=1, ensure_ascii=False)
        self._path(command.name).write_text(text, "utf-8")
        return status, seconds

    def _execute(self, command: Command, folder: Path) -> tuple[int, str, str]:
        """Runs a command in a folder. Returns its status, stdout and stderr."""
        arguments = command.arguments
        if arguments[0] != "-m":
            arguments[0] = str(self.checkout / arguments[0])
        if command.requests:
            client = str(Path(ask_server.__file__))
            files = [command.requests, "replies.jsonl"]
            arguments = [client, *files, *arguments]
        with (
            subprocess.Popen(
                [sys.executable, *arguments],
                cwd=folder,
                env=os.environ
                | ENVIRONMENT
                | {"PYTHONPATH": str(self.checkout)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            ) as process,
            concurrent.futures.ThreadPoolExecutor(1) as pool,
        ):
            future = pool.submit(process.communicate, timeout=TIMEOUT_S)
            while command.stop_at and process.poll() is None:
                if [*folder.glob(command.stop_at)]:
                    process.send_signal(signal.SIGTERM)
                    break
                time.sleep(0.01)
            try:
                stdout, stderr = future.result()
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, stdout, stderr


def describe(checkout: Path) -> dict[str, object]:
    """Returns the commit of a checkout, and what else decides the bits."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", checkout, *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        return done.stdout.strip()

    packages = ("tensorflow", "keras", "numpy", "ai-edge-litert", "onnxruntime")
    return {
        "commit": git("rev-parse", "HEAD"),
        "changed": git("status", "--short").splitlines(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "packages": {name: metadata.version(name) for name in packages},
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--checkout", required=True, help="folder to record")
    parser.add_argument("--output", required=True, help="folder to write")
    parser.add_argument("--base", help="recording to compare with")
    parser.add_argument(
        "--only",
        default="",
        help="names of commands or patterns, such as 'mrpc,ask.mrpc.*'",
    )
    parser.add_argument("--jobs", type=int, default=2, help="commands at once")
    options = parser.parse_args()
    try:
        commands.select(options.only)
    except ValueError as error:
        parser.error(str(error))
    begin_time = time.monotonic()
    recorder = Recorder(options.checkout, options.output, options.base)
    failed = recorder.record(options.only, options.jobs)
    print(f"recorded in {time.monotonic() - begin_time:.0f} s")
    if failed:
        print(f"another exit status than expected: {', '.join(failed)}")
    if not options.base:
        return int(bool(failed))
    return compare.report_differences(
        options.base, options.output, options.only
    )


if __name__ == "__main__":
    sys.exit(main())
