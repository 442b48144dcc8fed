"""Measures what int8 and a student of fewer layers cost in accuracy.

    python recipes/small-models.py --model_dir=$MINILM --data_dir=$DATA \
        --output_dir=output/small_models

Fine-tunes a checkpoint on MRPC, SST-2 (20,000 examples), STS-B (pairs of its
dev set taken out of its train set), SQuAD v1.1 (10 articles, 2 to answer) and
CoNLL-2003, and evaluates it in --mixed_precision and in int8. On MRPC, SST-2
and SQuAD it also trains students of half the layers, alone and with the
fine-tuned model as teacher.

Means and standard deviations over the seeds go to small_models.json and
small_models.md, which have all rows that are finished with each seed, also
those of another command. These are skipped. It ends in an error if int8, with
either kind of ranges, loses more than half a point on a task.

$DATA has the folders of recipes/worth.py; tasks whose folder is missing are
left out.
"""

import dataclasses
import itertools
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import runs
import tasks

from files.atomic import write_json, write_text
from files.json_files import read_json

# Points of 100 that int8 may lose on a task, by the mean over the seeds.
LIMIT = 0.5
TASKS = {
    "MRPC": dataclasses.replace(tasks.TASKS["MRPC"], figure="f1"),
    "SST-2": tasks.TASKS["SST-2"],
    "STS-B": dataclasses.replace(tasks.TASKS["STS-B"], figure="spearman"),
    "SQuAD": dataclasses.replace(
        tasks.TASKS["SQuAD"],
        prepare=tasks.first_articles(
            10, 2, max_seq_length=384, trim_padding=True, num_train_epochs=2
        ),
    ),
    "CoNLL": tasks.TASKS["CoNLL"],
}
TAUGHT = ("MRPC", "SST-2", "SQuAD")
# Rows of the fine-tuned model in int8, and their flags.
INT8 = {
    "int8": {"quantize": "int8"},
    "int8, static ranges": {"quantize": "int8", "quantize_ranges": "static"},
}
ROWS = (
    "fine-tuned",
    *INT8,
    "student",
    "student with a teacher",
    "student with a teacher, int8",
)


# The figures of a row's seeds, by task and row.
Figures = dict[str, dict[str, list[float]]]


class Measurement:
    """The rows of one task and seed.

    Args:
        task: Recipe.
        flags: of its script, for all rows.
        model_dir: folder of the checkpoint to fine-tune.
        output_dir: folder of this task and seed.
    """

    def __init__(
        self,
        task: tasks.Recipe,
        flags: dict[str, object],
        model_dir: Path,
        output_dir: Path,
    ) -> None:
        self._task = task
        self._flags = flags
        self._model_dir = model_dir
        self._output_dir = output_dir

    def _train(self, row: str, **flags: object) -> None:
        folder = row_folder(self._output_dir, row)
        tasks.run_row(
            self._task,
            self._flags | flags,
            self._model_dir,
            folder,
            export_weights=folder / "model",
        )

    def _quantize(self, row: str, of: str, **flags: object) -> None:
        model = row_folder(self._output_dir, of) / "model"
        tasks.run_row(
            self._task,
            self._flags | flags | {"bert_config_file": model},
            model,
            row_folder(self._output_dir, row),
            train=False,
        )

    def int8(self) -> None:
        """Runs the rows of the fine-tuned model."""
        self._train("fine-tuned")
        for row, flags in INT8.items():
            self._quantize(row, "fine-tuned", **flags)

    def students(self) -> None:
        """Runs the rows of the students; `int8` has run."""
        teacher = row_folder(self._output_dir, "fine-tuned") / "model"
        config = read_json(teacher / "bert_config.json")
        layers = range(1, config["num_hidden_layers"], 2)
        path = self._output_dir / "student.json"
        config["num_hidden_layers"] = len(layers)
        runs.write_once(path, config)
        flags: dict[str, object] = {
            "bert_config_file": path,
            "init_layers": ",".join(map(str, layers)),
        }
        taught = "student with a teacher"
        self._train("student", **flags)
        self._train(taught, **flags, teacher=teacher)
        self._quantize(f"{taught}, int8", taught, quantize="int8")


def seed_folder(output_dir: Path, task: str, seed: int) -> Path:
    """Returns the folder of a task's rows with one seed."""
    return output_dir / task / f"seed_{seed}"


def row_folder(folder: Path, row: str) -> Path:
    """Returns the folder of a row in that of its task and seed."""
    return folder / row.replace(" ", "_").replace(",", "")


def read_figures(output_dir: Path, seeds: Sequence[int]) -> Figures:
    """Returns {task: {row: figures of its seeds, from 0 to 1}}.

    Only of rows that are finished with each seed.
    """
    figures: Figures = {}
    for (name, task), row in itertools.product(TASKS.items(), ROWS):
        found = [
            tasks.read_figure(
                task, row_folder(seed_folder(output_dir, name, seed), row)
            )
            for seed in seeds
        ]
        finished = [figure for figure in found if figure is not None]
        if len(finished) == len(seeds):
            figures.setdefault(name, {})[row] = finished
    return figures


def write_tables(figures: Figures, output_dir: Path) -> str:
    """Writes small_models.json and small_models.md; returns the latter.

    Args:
        figures: those of `read_figures`.
        output_dir: where they go.
    """
    table = runs.markdown_table(
        ("", *(f"{name}, {TASKS[name].figure}" for name in figures)),
        (
            (
                row,
                *(
                    runs.describe(found[row]) if row in found else ""
                    for found in figures.values()
                ),
            )
            for row in ROWS
        ),
    )
    write_json(output_dir / "small_models.json", figures)
    write_text(output_dir / "small_models.md", table)
    return table


def losses(figures: Figures) -> dict[tuple[str, str], float]:
    """Returns {(task, row of int8): points that its mean lost}."""
    return {
        (name, row): 100
        * (statistics.mean(found["fine-tuned"]) - statistics.mean(found[row]))
        for name, found in figures.items()
        for row in INT8
        if {"fine-tuned", row} <= found.keys()
    }


def main() -> None:
    """Runs every row, prints the table and says whether int8 holds."""
    parser = runs.create_parser(
        __doc__,
        "Folder with a checkpoint of either format, its configuration and\n"
        "vocab.txt.",
    )
    parser.add_argument("--task", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--learning_rate", type=float, default=5e-5)
    parser.add_argument(
        "--cased", action="store_true", help="The checkpoint is a cased one."
    )
    options = parser.parse_args()
    flags = tasks.create_flags(
        options,
        {name: TASKS[name] for name in options.task},
        options.model_dir,
        rows="*/seed_*",
        max_seq_length=128,
        learning_rate=options.learning_rate,
        do_lower_case=not options.cased,
    )

    def measure(
        names: Iterable[str], run: Callable[[Measurement], None]
    ) -> Figures:
        for seed, name in itertools.product(options.seed, names):
            folder = seed_folder(options.output_dir, name, seed)
            task_flags = flags[name] | {"seed": seed}
            run(Measurement(TASKS[name], task_flags, options.model_dir, folder))
            write_tables(
                read_figures(options.output_dir, options.seed),
                options.output_dir,
            )
        figures = read_figures(options.output_dir, options.seed)
        print("\n" + write_tables(figures, options.output_dir))
        return figures

    # A damaged row is found before the others have run.
    read_figures(options.output_dir, options.seed)
    figures = measure(flags, Measurement.int8)
    # Not of tasks that are another command's.
    lost = losses({name: figures[name] for name in flags if name in figures})
    too_many = {row: points for row, points in lost.items() if points > LIMIT}
    # Last, as they take longest.
    measure((name for name in flags if name in TAUGHT), Measurement.students)
    if too_many:
        each = (
            f"{row} {points:.2f} on {name}"
            for (name, row), points in too_many.items()
        )
        sys.exit(
            f"error: of 100 points, more than {LIMIT} are lost by "
            f"{', '.join(each)}"
        )


if __name__ == "__main__":
    runs.main(main)
