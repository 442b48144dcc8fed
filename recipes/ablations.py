"""The paper's ablations at a small scale: tables 5 to 8.

    python recipes/ablations.py --model_dir=output/small_bert --data_dir=$DATA \
        --output_dir=output/ablations --row="no next sentence"

Pretrains the row's variant of small-bert-from-scratch.py's network on its
records, and fine-tunes it on MRPC and SST-2, for table 5 on QNLI too; for
table 7 on CoNLL-2003, for table 8 on that and MRPC. Without --row it does all
rows. The same command resumes; the table of finished rows, with the paper's
figures next to them, is written to ablations.md.
"""

import argparse
import dataclasses
import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import runs
from tasks import TASKS, create_flags, read_figure, run_row

from files.atomic import write_text
from files.json_files import read_json


@dataclasses.dataclass(frozen=True)
class Variant:
    """A variant of pretraining.

    Attributes:
        paper: the paper's dev figures of this variant of BERT.
        flags: of run_pretraining.py.
        num_hidden_layers: of the model.
        hidden_size: of the model; heads stay 64 wide.
        fine_tuning: flags of the task's script.
        frozen: whether fine-tuning freezes embeddings and blocks.
        pretrained_as: the row whose pretraining it uses; None for its own.
        tasks: names in TASKS to fine-tune on.
    """

    paper: str
    flags: Mapping[str, object] = dataclasses.field(default_factory=dict)
    num_hidden_layers: int = 3
    hidden_size: int = 128
    fine_tuning: Mapping[str, object] = dataclasses.field(default_factory=dict)
    frozen: bool = False
    pretrained_as: str | None = None
    tasks: Sequence[str] = ("MRPC", "SST-2")

    @property
    def config(self) -> dict[str, int]:
        """The model's configuration, where it is not the recipe's."""
        return {
            "num_hidden_layers": self.num_hidden_layers,
            "hidden_size": self.hidden_size,
            "intermediate_size": 4 * self.hidden_size,
            "num_attention_heads": self.hidden_size // 64,
        }


LEFT_TO_RIGHT = "left-to-right, no next sentence"


def task_effect(paper: str, **variant: Any) -> Variant:
    """Returns a row of table 5, which also has MNLI and SQuAD v1.1."""
    tasks = ("MRPC", "SST-2", "QNLI")
    return Variant(f"table 5: {paper}", tasks=tasks, **variant)


def masking(mask: float, same: float, paper: str) -> Variant:
    """Returns a row of table 8; the remaining fraction becomes random.

    The table has MNLI and NER; the other rows here have no MNLI.
    """
    flags = {"mask_token_prob": mask, "same_token_prob": same}
    return Variant(f"table 8: {paper}", flags, tasks=("MRPC", "CoNLL"))


def size(layers: int, hidden_size: int, paper: str) -> Variant:
    """Returns a row of table 6; the paper's networks are wider."""
    return Variant(
        f"table 6: {paper}", num_hidden_layers=layers, hidden_size=hidden_size
    )


ROWS = {
    "as it is": task_effect("MRPC 86.7, SST-2 92.7, QNLI 88.4"),
    "no next sentence": task_effect(
        "MRPC 86.5, SST-2 92.6, QNLI 84.9", flags={"next_sentence": False}
    ),
    LEFT_TO_RIGHT: task_effect(
        "MRPC 77.5, SST-2 92.1, QNLI 84.3",
        flags={"next_sentence": False, "left_to_right": True},
        fine_tuning={"left_to_right": True},
    ),
    "left-to-right with a BiLSTM": task_effect(
        "MRPC 75.7, SST-2 91.6, QNLI 84.1",
        flags={"next_sentence": False, "left_to_right": True},
        fine_tuning={"left_to_right": True, "bilstm": True},
        pretrained_as=LEFT_TO_RIGHT,
    ),
    "NER, fine-tuned": Variant(
        "table 7: F1 96.4", pretrained_as="as it is", tasks=("CoNLL",)
    ),
    # The table compares several features; this row uses the last block's.
    "NER by features and a BiLSTM": Variant(
        "table 7: F1 94.9",
        fine_tuning={"bilstm": True},
        frozen=True,
        pretrained_as="as it is",
        tasks=("CoNLL",),
    ),
    "1 x 128": size(1, 128, "3 x 768: perplexity 5.84, MRPC 79.8, SST-2 88.4"),
    "2 x 128": size(2, 128, "6 x 768: perplexity 4.68, MRPC 84.8, SST-2 91.3"),
    "3 x 64": size(3, 64, "no such row"),
    "100% [MASK]": masking(1.0, 0.0, "MNLI 84.3, NER 94.9 (84.2, 95.4)"),
    "80% [MASK], 20% random": masking(0.8, 0.0, "MNLI 84.1, NER 95.2"),
    "80% [MASK], 20% same": masking(0.8, 0.2, "MNLI 84.4, NER 95.2"),
    "20% same, 80% random": masking(0.0, 0.2, "MNLI 83.7, NER 94.8"),
    "100% random": masking(0.0, 0.0, "MNLI 83.6, NER 94.9"),
}
FINE_TUNED = ("MRPC", "SST-2", "QNLI", "CoNLL")


def training_flags(options: argparse.Namespace) -> dict[str, object]:
    """Returns the flags of pretraining that all rows share.

    Inputs and masking are those of the small BERT's first phase.

    Raises:
        SystemExit: `model_dir` is not the small BERT's.
    """
    path = options.model_dir / "settings.json"
    phases = read_json(path).get("phases") if path.exists() else None
    if not phases:
        sys.exit(
            f"error: --model_dir: {path} has no phases; give the output of "
            "small-bert-from-scratch.py"
        )
    length = phases[0]["max_seq_length"]
    manifest = read_json(options.model_dir / f"records_{length}.manifest.json")
    return {
        "max_seq_length": length,
        "max_predictions_per_seq": manifest["flags"]["max_predictions_per_seq"],
        "masked_lm_prob": phases[0]["masked_lm_prob"],
        "train_batch_size": options.train_batch_size,
        "learning_rate": options.learning_rate,
        "num_train_steps": options.num_train_steps,
        "num_warmup_steps": options.num_train_steps // 10,
    }


def pretrain(
    row: Variant,
    flags: dict[str, object],
    options: argparse.Namespace,
    folder: Path,
) -> Path:
    """Pretrains a row's model with `training_flags`; returns its folder."""
    config = read_json(options.model_dir / "bert_config.json")
    config_file = folder / "bert_config.json"
    runs.write_once(config_file, config | row.config)
    records = options.model_dir / f"records_{flags['max_seq_length']}"
    runs.run(
        "run_pretraining.py",
        folder / "pretraining.log",
        {
            "input_file": f"{records}-*-of-*",
            "eval_input_file": options.model_dir / f"eval-{records.name}",
            "vocab_file": options.model_dir / "vocab.txt",
            "bert_config_file": config_file,
            "output_dir": folder / "pretraining",
            "do_train": True,
            "do_eval": True,
            "adam_beta_2": 0.98,
            "mixed_precision": options.mixed_precision,
            "eval_batch_size": 64,
            **flags,
            **row.flags,
        },
    )
    return folder / "pretraining"


def folder_of(name: str, output_dir: Path) -> Path:
    """Returns the folder of a row."""
    return output_dir / name.replace(" ", "_")


def find_flags(
    name: str, training: dict[str, object], options: argparse.Namespace
) -> dict[str, dict[str, object]]:
    """Returns {task: flags} of a row's fine-tuning; checks the data."""
    row = ROWS[name]
    start = folder_of(row.pretrained_as or name, options.output_dir)
    return create_flags(
        options,
        {name: TASKS[name] for name in row.tasks},
        start / "fine_tuning" / "bert_config.json",
        rows="*/*_seed_*",
        max_seq_length=training["max_seq_length"],
        learning_rate=3e-4,
    )


def run(
    name: str,
    flags: dict[str, dict[str, object]],
    training: dict[str, object],
    options: argparse.Namespace,
) -> None:
    """Pretrains and fine-tunes a row.

    Args:
        name: of the row.
        flags: those of `find_flags`.
        training: those of `training_flags`.
        options: of the command.
    """
    row = ROWS[name]
    start = folder_of(row.pretrained_as or name, options.output_dir)
    pretrained = pretrain(row, training, options, start)
    runs.add_dropout(start / "bert_config.json", start / "fine_tuning")
    fine_tuning = dict(row.fine_tuning)
    if row.frozen:
        fine_tuning["freeze_layers"] = row.num_hidden_layers
    for task, seed in itertools.product(flags, options.seed):
        run_row(
            TASKS[task],
            {**flags[task], **fine_tuning, "seed": seed},
            pretrained / f"model.ckpt-{options.num_train_steps}",
            folder_of(name, options.output_dir) / f"{task}_seed_{seed}",
        )


def read_row(
    name: str, output_dir: Path, seeds: Sequence[int]
) -> list[str] | None:
    """Returns the cells of a row; None if a task lacks some of its seeds.

    The cell of a task without any is empty: its data were not given.
    """
    row = ROWS[name]
    cells = []
    for task in FINE_TUNED:
        folder = folder_of(name, output_dir)
        found = [
            read_figure(TASKS[task], folder / f"{task}_seed_{seed}")
            for seed in seeds
        ]
        figures = [figure for figure in found if figure is not None]
        if len(figures) not in (0, len(seeds)):
            return None
        cells.append(runs.describe(figures) if figures else "")
    pretrained = folder_of(row.pretrained_as or name, output_dir)
    results = pretrained / "pretraining/eval_results.txt"
    if not any(cells) or not results.exists():
        return None
    loss, accuracy = runs.read_results(
        results, "masked_lm_loss", "masked_lm_accuracy"
    )
    return [name, f"{math.exp(loss):.1f}", f"{accuracy:.3f}", *cells, row.paper]


def write_table(output_dir: Path, seeds: Sequence[int]) -> str:
    """Writes ablations.md, the rows whose runs are all done; returns it."""
    rows = (read_row(name, output_dir, seeds) for name in ROWS)
    header = ("row", "perplexity", "masked LM accuracy", *FINE_TUNED)
    table = runs.markdown_table((*header, "the paper"), filter(None, rows))
    write_text(output_dir / "ablations.md", table)
    return table


def main() -> None:
    """Runs the rows and prints the table."""
    parser = runs.create_parser(
        __doc__, "Output of small-bert-from-scratch.py: vocabulary and records."
    )
    add = parser.add_argument
    add("--row", nargs="+", choices=ROWS, default=ROWS, help="Rows to run.")
    add("--train_batch_size", type=int, default=128, help="In pretraining.")
    add("--learning_rate", type=float, default=3e-3, help="In pretraining.")
    add("--num_train_steps", type=int, default=1500, help="In pretraining.")
    options = parser.parse_args()
    training = training_flags(options)
    # Before anything is trained, as this finds what is wrong with the data.
    flags = {name: find_flags(name, training, options) for name in options.row}
    runs.write_once(
        options.output_dir / "pretraining.json",
        training,
        options.output_dir.glob("*/pretraining"),
    )
    # A damaged row is found before the others have run.
    write_table(options.output_dir, options.seed)
    for name in options.row:
        run(name, flags[name], training, options)
        write_table(options.output_dir, options.seed)
    print("\n" + write_table(options.output_dir, options.seed))


if __name__ == "__main__":
    runs.main(main)
