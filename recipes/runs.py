"""Runs the project's scripts one after the other, for the recipes.

Each command is printed as you would type it; its log goes to a file.
"""

import argparse
import shlex
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from training import child  # noqa: E402


def run(script: str, log: Path, flags: dict[str, object]) -> None:
    """Runs a script of this project to its end.

    Args:
        script: its file, such as "run_pretraining.py".
        log: file to which its log is appended.
        flags: {name: value}; True stands for the bare flag, None for none.

    Raises:
        SystemExit: it failed or was interrupted; with its status.
    """
    command = [str(ROOT / script)]
    for name, value in flags.items():
        if value is True:
            command.append(f"--{name}")
        elif value is not None:
            command.append(f"--{name}={value}")
    print(f"\n$ python {shlex.join(command)}\n  log: {log}", flush=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as writer:
        status = child.run(
            [sys.executable, *command], stdout=writer, stderr=writer
        )
    if status:
        end = log.read_text("utf-8", errors="replace").splitlines()[-20:]
        print("\n".join([f"{script} failed; {log} ends:", *end]))
        sys.exit(status)


def create_parser(
    description: str | None, model_dir: str
) -> argparse.ArgumentParser:
    """Returns a parser of the arguments that recipes share.

    Args:
        description: the recipe's docstring.
        model_dir: help of --model_dir.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model_dir", required=True, type=Path, help=model_dir)
    parser.add_argument("--data_dir", required=True, type=Path)
    parser.add_argument("--output_dir", required=True, type=Path)
    parser.add_argument("--seed", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--mixed_precision", default="float32")
    return parser


def read_results(path: Path) -> dict[str, float]:
    """Returns {name: figure} of an eval_results.txt."""
    pairs = (line.split(" = ") for line in path.read_text().splitlines())
    return {name: float(value) for name, value in pairs}


def describe(figures: Sequence[float]) -> str:
    """Returns "mean ± standard deviation" of the runs, in hundredths."""
    mean = 100 * statistics.mean(figures)
    if len(figures) < 2:
        return f"{mean:.1f}"
    return f"{mean:.1f} ± {100 * statistics.stdev(figures):.1f}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
