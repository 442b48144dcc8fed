"""Compares pretrained with random initial weights on eight tasks.

    python recipes/worth.py --model_dir=output/small_bert --data_dir=$DATA \
        --output_dir=output/worth \
        --start=pretrained=output/small_bert/pretraining_2/model.ckpt-27000

Fine-tunes the same network from random weights and from each --start with three
seeds, at the learning rate that is best for the start and the first seed: 3
epochs of SST-2 and CoNLL-2003, 10 of the smaller ones.
worth.md has mean and standard deviation (and the rate), worth.json all figures.
Finished rows are skipped. $DATA has the folders SST-2, MRPC, CoLA, RTE, STS-B,
QNLI, squad and conll2003; tasks whose folder is missing are left out.
"""

import argparse
import itertools
import statistics
from collections.abc import Iterable
from pathlib import Path

import runs
from tasks import TASKS, create_flags, read_figure, run_row

from files.atomic import write_json, write_text

# The figures of a start's seeds, by learning rate.
Figures = dict[float, list[float]]

# 3 epochs of the others are too few steps for a small network.
LARGE = ("SST-2", "CoNLL")
NUM_EPOCHS = 10


def best(found: Figures) -> tuple[float, list[float]]:
    """Returns the rate that is best for the first seed, and its figures."""
    return max(found.items(), key=lambda each: each[1][0])


def row_folder(
    options: argparse.Namespace, start: str, task: str, rate: float, seed: int
) -> Path:
    """Returns the folder of a run."""
    return options.output_dir / start / f"{task}_rate_{rate:g}_seed_{seed}"


def read_figures(
    options: argparse.Namespace, starts: Iterable[str]
) -> dict[str, dict[str, Figures]]:
    """Returns {task: {start: {learning rate: figures}}} of finished runs.

    They may be another command's, which ran other tasks. Seeds after a missing
    one are left out, so that a rate's first figure is the first seed's.
    """
    figures: dict[str, dict[str, Figures]] = {}
    for name, start, rate in itertools.product(
        TASKS, starts, options.learning_rate
    ):
        found = figures.setdefault(name, {}).setdefault(start, {})
        for seed in options.seed:
            folder = row_folder(options, start, name, rate, seed)
            figure = read_figure(TASKS[name], folder)
            if figure is None:
                break
            found.setdefault(rate, []).append(figure)
    return {
        name: found for name, found in figures.items() if any(found.values())
    }


def write_tables(
    figures: dict[str, dict[str, Figures]],
    options: argparse.Namespace,
) -> str:
    """Writes worth.json and worth.md; returns the latter.

    A task has a row once all its runs are done: the best rate, or a deviation,
    of some of them would mislead.

    Args:
        figures: {task: {start: {learning rate: figures of its seeds}}}.
        options: `output_dir`, and the `seed`s and `learning_rate`s.
    """
    starts = next(iter(figures.values()))
    rows, means = [], []
    for task, found in figures.items():
        if any(
            len(each) < len(options.learning_rate) for each in found.values()
        ):
            continue
        picked = [best(each) for each in found.values()]
        if all(len(values) == len(options.seed) for _, values in picked):
            means.append([statistics.mean(values) for _, values in picked])
            cells = (f"{runs.describe(v)} ({rate:g})" for rate, v in picked)
            rows.append((task, *cells))
    if len(rows) == len(figures):
        columns = zip(*means, strict=True)
        averages = (f"{100 * statistics.mean(each):.1f}" for each in columns)
        rows.append(("average", *averages))
    table = runs.markdown_table(("task", *starts), rows)
    write_json(options.output_dir / "worth.json", figures)
    write_text(options.output_dir / "worth.md", table)
    return table


def find_starts(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> dict[str, Path | None]:
    """Returns {name: checkpoint, None for random weights}; checks --start."""
    starts: dict[str, Path | None] = {"random": None}
    for start in options.start:
        name, equals, checkpoint = start.partition("=")
        # Each start has a folder of that name, next to the tasks' files.
        if not equals or name in ("", ".", "..", "data") or "/" in name:
            parser.error(f"--start={start} is not NAME=CHECKPOINT")
        if name in starts:
            parser.error(f"--start={start}: there is a start {name} already")
        if not Path(f"{checkpoint}.index").is_file():
            parser.error(f"--start={start}: there is no {checkpoint}.index")
        starts[name] = Path(checkpoint).resolve()
    return starts


def main() -> None:
    """Fine-tunes every row and prints the table."""
    parser = runs.create_parser(
        __doc__, "Folder with vocab.txt and bert_config.json."
    )
    parser.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="NAME=CHECKPOINT",
        help="Weights to start from; may be given several times.",
    )
    parser.add_argument(
        "--task",
        nargs="+",
        choices=TASKS,
        default=TASKS,
        help="Tasks to run; the table has all that are done.",
    )
    parser.add_argument(
        "--learning_rate",
        nargs="+",
        action=runs.Distinct,
        type=float,
        default=[1e-4, 3e-4],
        help="Rates to choose from.",
    )
    options = parser.parse_args()
    starts = find_starts(parser, options)
    flags = create_flags(
        options,
        {name: TASKS[name] for name in options.task},
        options.output_dir / "bert_config.json",
        rows="*/*_seed_*",
        max_seq_length=128,
        num_train_epochs=NUM_EPOCHS,
    )
    for name in flags.keys() & LARGE:
        flags[name]["num_train_epochs"] = 3
    for name, checkpoint in starts.items():
        # Rows of another checkpoint must not pass for this one's.
        folder = options.output_dir / name
        runs.write_once(
            folder / "start.json",
            {"init_checkpoint": checkpoint and str(checkpoint)},
            folder.glob("*_seed_*"),
        )
    runs.add_dropout(options.model_dir / "bert_config.json", options.output_dir)
    # A damaged row is found before the others have run.
    read_figures(options, starts)
    for seed, name, start in itertools.product(options.seed, flags, starts):
        rates = options.learning_rate
        if seed != options.seed[0]:
            found = read_figures(options, starts)[name][start]
            rates = [best(found)[0]]
        for rate in rates:
            run_row(
                TASKS[name],
                flags[name] | {"seed": seed, "learning_rate": rate},
                starts[start],
                row_folder(options, start, name, rate, seed),
            )
        write_tables(read_figures(options, starts), options)
    print("\n" + write_tables(read_figures(options, starts), options))


if __name__ == "__main__":
    runs.main(main)
