"""Runs the project's scripts one after the other, for the recipes.

Each command is printed as you would type it; its log goes to a file.
"""

import argparse
import json
import shlex
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from files import json_files  # noqa: E402
from files.atomic import write_json  # noqa: E402
from training.command_line import child  # noqa: E402


def main(recipe: Callable[[], None]) -> None:
    """Runs a recipe; an error in its input is printed in one line.

    Raises:
        SystemExit: there was one; the status is 1.
    """
    try:
        recipe()
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


def arguments(flags: dict[str, object]) -> list[str]:
    """Returns flags as a command has them.

    Args:
        flags: {name: value}; True stands for the bare flag, None for none.
    """
    return [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in flags.items()
        if value is not None
    ]


def run(script: str, log: Path, flags: dict[str, object]) -> None:
    """Runs a script of this project to its end.

    Args:
        script: its file, such as "run_pretraining.py".
        log: file to which its log is appended.
        flags: as for `arguments`.

    Raises:
        SystemExit: it failed or was interrupted; with its status.
    """
    command = [str(ROOT / script), *arguments(flags)]
    print(f"\n$ python {shlex.join(command)}\n  log: {log}", flush=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as writer:
        status = child.run(
            [sys.executable, *command], stdout=writer, stderr=writer
        )
    if status:
        end = log.read_text("utf-8", errors="replace").splitlines()[-20:]
        end.append(f"error: {script} failed; above is the end of {log}")
        print("\n".join(end), file=sys.stderr)
        sys.exit(status)


def folder(value: str) -> Path:
    """Returns the folder that an argument names.

    Raises:
        argparse.ArgumentTypeError: it is empty, which would be the current one.
    """
    if not value.strip():
        raise argparse.ArgumentTypeError(
            "is empty (was a shell variable not set?)"
        )
    return Path(value)


def existing_folder(value: str) -> Path:
    """Returns the folder that an argument names.

    Raises:
        argparse.ArgumentTypeError: it is not there.
    """
    if not folder(value).is_dir():
        raise argparse.ArgumentTypeError(f"{value} is not a folder")
    return Path(value)


def write_once(
    path: Path, config: dict[str, object], results: Iterable[Path] = ()
) -> None:
    """Writes a configuration or settings, which later runs must share.

    Args:
        path: the file.
        config: what it must hold.
        results: files and folders that are made with these settings; without
            the file, nobody knows with which they were.

    Raises:
        SystemExit: the file has others, or is missing where there are results.
    """
    if not path.exists():
        if made := next(filter(Path.exists, sorted(results)), None):
            sys.exit(
                f"error: {made} is there without {path}, which would say how "
                "it was made; give another --output_dir"
            )
        write_json(path, config)
        return
    before = json_files.read_json(path)
    # As read back: JSON has lists for tuples.
    now = json.loads(json.dumps(config))
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            sys.exit(
                f"error: {path} is of other settings or another model: {name} "
                f"is {before.get(name)} there and {now.get(name)} here; give "
                "another --output_dir"
            )


def add_dropout(config_file: Path, folder: Path) -> Path:
    """Writes a model's configuration for fine-tuning; returns its file.

    The small models are pretrained without dropout, but would learn a task's
    few examples by heart without the original's.
    """
    config = json_files.read_json(config_file)
    dropout = ("hidden_dropout_prob", "attention_probs_dropout_prob")
    path = folder / "bert_config.json"
    write_once(path, config | dict.fromkeys(dropout, 0.1))
    return path


def find_missing(folder: Path, files: Iterable[str]) -> Path | None:
    """Returns the first file that a folder lacks, None if it has all.

    Args:
        folder: it need not exist.
        files: names, with "or" between those of the same file.
    """
    for names in files:
        if not any((folder / name).exists() for name in names.split(" or ")):
            return folder / names
    return None


def seed(text: str) -> int:
    """Returns the seed that an argument gives.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from 0 to 2**32 - 1"
        )
    return int(text)


class Distinct(argparse.Action):
    """Stores a list of values, none of which may be given twice."""

    def __call__(  # type: ignore[no-untyped-def]
        self, parser, namespace, values, option_string=None
    ) -> None:
        """Stores the values."""
        if len(set(values)) < len(values):
            parser.error(f"{option_string}: one value is given twice")
        setattr(namespace, self.dest, values)


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
    add = parser.add_argument
    add("--model_dir", required=True, type=existing_folder, help=model_dir)
    add(
        "--data_dir",
        required=True,
        type=existing_folder,
        help="Folder with a folder for each task.",
    )
    add("--output_dir", required=True, type=folder)
    add(
        "--seed",
        nargs="+",
        action=Distinct,
        type=seed,
        default=[1, 2, 3],
        help="Seeds of fine-tuning; each is a run.",
    )
    add_mixed_precision(parser)
    return parser


def add_mixed_precision(parser: argparse.ArgumentParser) -> None:
    """Adds the argument --mixed_precision."""
    parser.add_argument(
        "--mixed_precision",
        choices=("float32", "bfloat16"),
        default="float32",
        help="bfloat16 is faster where the CPU multiplies it (AVX512-BF16, "
        "AMX).",
    )


def read_results(path: Path, *names: str) -> list[float]:
    """Returns figures of an eval_results.txt.

    Args:
        path: the file.
        *names: of the figures.

    Raises:
        OSError: it cannot be read.
        ValueError: a figure is missing, or the file is damaged.
    """
    try:
        pairs = (line.split(" = ") for line in path.read_text().splitlines())
        found = {name: float(value) for name, value in pairs}
        return [found[name] for name in names]
    except (KeyError, ValueError):
        raise ValueError(
            f"{path} does not give {' and '.join(names)} as NAME = FIGURE; "
            "remove it to run its command again"
        ) from None


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
