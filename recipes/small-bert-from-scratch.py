"""Text -> vocabulary -> records -> pretraining -> GLUE, on a CPU in hours.

    python recipes/small-bert-from-scratch.py --corpus=corpus.txt \
        --output_dir=output/small_bert --glue_dir=glue_data

The corpus has one sentence a line and blank lines between documents; some of
its documents are held out for all evaluations; curves.html shows them. The
same command resumes after a stop. `--size=sample --corpus=samples/corpus.txt`
takes minutes and shows only that everything works.
"""

import argparse
import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import runs

from data.classification import glue_suite
from data.io import text_files


@dataclasses.dataclass(frozen=True)
class Phase:
    """Pretraining at one length, from the weights of the phase before.

    Short inputs, many masks and a high rate first: the loss plateaus until the
    network learns more than word frequencies, and the length of the plateau
    depends on the number of predictions seen.
    """

    max_seq_length: int
    train_batch_size: int
    learning_rate: float
    num_train_steps: int
    num_warmup_steps: int
    # In training; held-out documents are masked at 15% for evaluation.
    masked_lm_prob: float


@dataclasses.dataclass(frozen=True)
class Size:
    """A network and its pretraining."""

    vocab_size: int
    num_hidden_layers: int
    hidden_size: int
    num_attention_heads: int
    eval_fraction: float
    eval_steps: int
    phases: tuple[Phase, ...]
    num_train_epochs: float

    def lengths(self, max_seq_length: int) -> dict[str, int]:
        """Returns flags of length, with room for what its phases mask."""
        fractions = (
            phase.masked_lm_prob
            for phase in self.phases
            if phase.max_seq_length == max_seq_length
        )
        return {
            "max_seq_length": max_seq_length,
            "max_predictions_per_seq": math.ceil(
                max(fractions) * max_seq_length
            ),
        }


SIZES = {
    "small": Size(
        vocab_size=8192,
        num_hidden_layers=3,
        hidden_size=128,
        num_attention_heads=2,
        eval_fraction=0.05,
        eval_steps=500,
        phases=(
            Phase(32, 128, 3e-3, 2500, 500, 0.4),
            Phase(128, 64, 2e-3, 27000, 500, 0.2),
        ),
        num_train_epochs=10.0,
    ),
    "sample": Size(
        vocab_size=1600,
        num_hidden_layers=2,
        hidden_size=16,
        num_attention_heads=2,
        eval_fraction=0.1,
        eval_steps=20,
        phases=(
            Phase(32, 8, 1e-3, 40, 10, 0.4),
            Phase(64, 16, 1e-3, 20, 5, 0.2),
            Phase(64, 16, 1e-3, 10, 2, 0.2),
        ),
        num_train_epochs=0.1,
    ),
}
# The rate rises and falls again, twice.
SIZES["long"] = dataclasses.replace(
    SIZES["small"],
    phases=(
        Phase(32, 128, 3e-3, 8000, 500, 0.4),
        Phase(128, 64, 2e-3, 16000, 500, 0.3),
        Phase(128, 64, 2e-3, 13000, 500, 0.3),
        Phase(128, 64, 1.5e-3, 6000, 250, 0.2),
    ),
)


def create_config(size: Size, vocab_file: Path) -> dict[str, object]:
    """Returns the model's configuration.

    Without dropout, and with larger initial weights than the original's 0.02,
    which suit a narrow network.
    """
    return {
        "attention_probs_dropout_prob": 0.0,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "hidden_size": size.hidden_size,
        "initializer_range": 0.06,
        "intermediate_size": 4 * size.hidden_size,
        "max_position_embeddings": 128,
        "num_attention_heads": size.num_attention_heads,
        "num_hidden_layers": size.num_hidden_layers,
        "type_vocab_size": 2,
        "vocab_size": len(vocab_file.read_text("utf-8").splitlines()),
    }


def pretrain(
    size: Size, corpus: str, output_dir: Path, precision: str
) -> Iterator[Path]:
    """Makes vocabulary and records, and trains; yields the phases' folders."""
    vocab_file = output_dir / "vocab.txt"
    settings = dataclasses.asdict(size)
    settings["corpus"] = str(Path(corpus).resolve())
    settings["mixed_precision"] = precision
    # What was begun with others would go on with these.
    runs.write_once(output_dir / "settings.json", settings, [vocab_file])
    if not vocab_file.exists():
        runs.run(
            "create_vocabulary.py",
            output_dir / "create_vocabulary.log",
            {
                "input_file": corpus,
                "output_file": vocab_file,
                "vocab_size": size.vocab_size,
            },
        )
    runs.write_once(
        output_dir / "bert_config.json", create_config(size, vocab_file)
    )
    records = {
        length: create_records(size, length, corpus, output_dir)
        for length in {phase.max_seq_length: None for phase in size.phases}
    }
    before = None
    for number, phase in enumerate(size.phases, start=1):
        folder = output_dir / f"pretraining_{number}"
        train(
            size,
            phase,
            records[phase.max_seq_length],
            before,
            folder,
            precision,
        )
        before = folder / f"model.ckpt-{phase.num_train_steps}"
        yield folder


def create_records(
    size: Size, length: int, corpus: str, output_dir: Path
) -> Path:
    """Makes the records of a length; returns what their names begin with."""
    records = output_dir / f"records_{length}"
    runs.run(
        "create_pretraining_data.py",
        output_dir / "create_pretraining_data.log",
        {
            "input_file": corpus,
            "output_file": records,
            "vocab_file": output_dir / "vocab.txt",
            **size.lengths(length),
            "dupe_factor": 4,
            "dynamic_masking": True,
            "eval_fraction": size.eval_fraction,
        },
    )
    return records


def train(
    size: Size,
    phase: Phase,
    records: Path,
    start: Path | None,
    folder: Path,
    precision: str,
) -> None:
    """Trains a phase from a checkpoint, None for random weights."""
    output_dir = records.parent
    runs.run(
        "run_pretraining.py",
        output_dir / f"{folder.name}.log",
        {
            "input_file": f"{records}-*-of-*",
            "eval_input_file": output_dir / f"eval-{records.name}",
            "vocab_file": output_dir / "vocab.txt",
            "bert_config_file": output_dir / "bert_config.json",
            "output_dir": folder,
            "init_checkpoint": start,
            "do_train": True,
            "do_eval": True,
            **size.lengths(phase.max_seq_length),
            "masked_lm_prob": phase.masked_lm_prob,
            "train_batch_size": phase.train_batch_size,
            "learning_rate": phase.learning_rate,
            "num_train_steps": phase.num_train_steps,
            "num_warmup_steps": phase.num_warmup_steps,
            "adam_beta_2": 0.98,
            "mixed_precision": precision,
            "eval_steps": size.eval_steps,
            "eval_batch_size": 64,
            "target_accuracy": 0.4,
            "save_checkpoints_steps": size.eval_steps,
            # recipes/worth.py may start from any of them.
            "keep_checkpoint_max": 0,
        },
    )


def draw_curves(size: Size, folders: Sequence[Path], output_dir: Path) -> None:
    """Draws losses and accuracies of the phases as one page."""
    named = (
        f"{number}. {phase.max_seq_length} WordPieces={folder}"
        for number, (phase, folder) in enumerate(
            zip(size.phases, folders, strict=True), start=1
        )
    )
    runs.run(
        "plot_runs.py",
        output_dir / "plot_runs.log",
        {
            "runs": ",".join(named),
            "consecutive": True,
            "axis": "hours",
            "html": output_dir / "curves.html",
        },
    )


def fine_tune(
    size: Size,
    glue: dict[str, object],
    checkpoint: Path,
    output_dir: Path,
    precision: str,
) -> str:
    """Fine-tunes the last phase's weights on GLUE; returns the table.

    Args:
        size: Size.
        glue: flags of run_glue.py that name its data.
        checkpoint: the last phase's.
        output_dir: of the recipe.
        precision: 16 or 32 bits, as for --mixed_precision.
    """
    folder = output_dir / "glue"
    runs.run(
        "run_glue.py",
        output_dir / "glue.log",
        {
            **glue,
            "vocab_file": output_dir / "vocab.txt",
            "bert_config_file": runs.add_dropout(
                output_dir / "bert_config.json", output_dir / "fine_tuning"
            ),
            "init_checkpoint": checkpoint,
            "output_dir": folder,
            "train_batch_size": 32,
            "learning_rate": 3e-4,
            "num_train_epochs": size.num_train_epochs,
            "mixed_precision": precision,
        },
    )
    return (folder / "glue.md").read_text("utf-8")


def main() -> None:
    """Runs the recipe and prints each stage's results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--corpus", required=True, help="Text file to learn.")
    parser.add_argument("--output_dir", required=True, type=runs.folder)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument(
        "--glue_dir",
        type=runs.existing_folder,
        help="Folder with a folder for each task; see run_glue.py",
    )
    parser.add_argument(
        "--tasks",
        help="Tasks of --glue_dir, comma-separated, such as cola,mrpc; by\n"
        "default all that have a train set. Each has 10 epochs: of MNLI or\n"
        "QQP that takes many hours.",
    )
    runs.add_mixed_precision(parser)
    options = parser.parse_args()
    text_files.expand_patterns(options.corpus, "corpus")
    glue = {"glue_dir": options.glue_dir, "tasks": options.tasks}
    if options.glue_dir:
        names = None if options.tasks is None else options.tasks.split(",")
        glue_suite.find_tasks(options.glue_dir, names)
    elif options.tasks is not None:
        parser.error("--tasks needs --glue_dir, the folder of their data")
    size, output_dir = SIZES[options.size], options.output_dir
    output_dir.mkdir(parents=True, exist_ok=True)
    rows, folders = [], []
    for folder in pretrain(
        size, options.corpus, output_dir, options.mixed_precision
    ):
        folders.append(folder)
        names = ("masked_lm_accuracy", "next_sentence_accuracy")
        figures = runs.read_results(folder / "eval_results.txt", *names)
        for name, figure in zip(names, figures, strict=True):
            rows.append((f"{folder.name} {name}", f"{figure:.3f}"))
    draw_curves(size, folders, output_dir)
    checkpoint = folder / f"model.ckpt-{size.phases[-1].num_train_steps}"
    table = runs.markdown_table(("held out", "figure"), rows)
    if options.glue_dir:
        table += "\n" + fine_tune(
            size,
            glue,
            checkpoint,
            output_dir,
            options.mixed_precision,
        )
    print("\n" + table)


if __name__ == "__main__":
    runs.main(main)
