"""Times this project beside KerasHub and transformers, in one run.

    make bench          # creates its own environment
    make bench-optimum  # rows `pair` and `bulk`: optimum needs old transformers

    python benchmarks/model_benchmark.py --minilm_dir=DIR --mrpc_dir=DIR \
        --squad_file=dev-v1.1.json

A contestant is one way to do the work of a row, in this project or in another
library. The contestants take turns (timing.py), so that slow minutes of the
machine affect all of them. The table of a row shows the median of the repeats.
Close other programs first. If the processor only emulates bfloat16, pass
--rows='*_float32,*_int8'.

`ratio` is the fastest peer's time divided by the contestant's time. If it is
above 1, the contestant is faster. `GiB` is the peak memory of the contestant's
process, including the warm-up.

The rows, with BERT-Base by default:

    pretrain   one training step on 16 sequences of 128 WordPieces with 20
               predictions, with dropout, clipping and AdamW. KerasHub predicts
               no next sentence. transformers predicts at every position, not
               only at masked positions.
    inference  the encoder on batches of 8 x 128 and 1 x 16 ids, in Keras and in
               the engines of an export. In int8, torch runs with dynamic
               quantization.
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), in batches of 32 texts of at most 128
               WordPieces
    classify   labeling sentences of MRPC, 1 or 32 at a time, from text to
               label: MiniLM's exports with `serving.load`, and the pipeline of
               transformers
    pair       labeling pairs of sentences, beside optimum with ONNX Runtime
               and sentence-transformers' cross-encoder (`make bench-optimum`)
    answer     answering 200 questions of --squad_file with an export, from text
               to the n best answers
    embed      embedding vectors of 1,000 sentences of MRPC
    bulk       labeling --num_texts tickets of 3 to 300 words (from MRPC's
               sentences, half of them shorter than 30 words) from CSV to CSV.
               A repeat is a process from its start to its end: it imports its
               libraries, loads a saved classifier of MiniLM's size, reads,
               labels in batches of 32, and writes in the order of the input.
               Here it is predict.py, with all processors in one process, or
               with two processes of one thread, which read the same tickets
               from 8 files. The peers' is classify_csv.py: transformers'
               pipeline over the list of texts, as they come or `sorted` by
               length, and optimum with ONNX Runtime (`make bench-optimum`).
               `GiB` is the most that all processes of the script have in
               memory together. The notes count processor time.
    export     exporting a classifier of MiniLM's size, and checking the export
               on MRPC's dev set
    startup_predict  predict.py with a classifier of MiniLM's size from its
               start to its first answer
    records    create_pretraining_data.py on --corpus (one sentence per line)
               with --vocab_file, in five passes. `records_scalable` uses one
               process, or one process for each processor.
    words      tokenizing --corpus, in MB/s: FullTokenizer in one process,
               TokenizerLayer on 8,192 lines with 1,024, 32 or 1 lines in a
               call (the notes count processor time), and the package
               tokenizers

Rows in int8 also time torch in bfloat16. With --device=cuda a GPU computes the
rows `pretrain` and `inference`. Then this project and KerasHub need the package
tensorflow[and-cuda].
"""

import contextlib
import fnmatch
import importlib.util
import os
import sys
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from absl import app
from absl import flags as absl_flags

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import timing
from benchmarks.rows import ROWS, Row

FLAGS = absl_flags.FLAGS

# Modules of contestants that are other libraries.
PEERS = ("keras_hub", "transformers", "optimum", "sentence_transformers")


def define_flags(values: absl_flags.FlagValues = FLAGS) -> None:
    """Defines the flags of this script among `values`."""
    absl_flags.DEFINE_list(
        "rows", ["*"], "Names or patterns of the rows to time.", values
    )
    absl_flags.DEFINE_integer(
        "repeats",
        None,
        "Number of repeats in each row.",
        lower_bound=1,
        flag_values=values,
    )
    absl_flags.DEFINE_integer(
        "num_texts",
        20_000,
        "Number of texts in row bulk.",
        lower_bound=1,
        flag_values=values,
    )
    absl_flags.DEFINE_string(
        "bert_config_file",
        str(timing.ROOT / "examples/configs/uncased_L-12_H-768_A-12.json"),
        "bert_config.json for the rows pretrain and inference.",
        values,
    )
    for name, help_text in (
        ("minilm_dir", "Folder of MiniLM in Hugging Face's format."),
        ("mrpc_dir", "Folder that contains MRPC's train.tsv and dev.tsv."),
        ("squad_file", "JSON file of the dev set of SQuAD v1.1."),
        ("corpus", "Text file with one sentence per line."),
        ("vocab_file", "vocab.txt of an uncased vocabulary."),
    ):
        absl_flags.DEFINE_string(name, None, help_text, values)
    absl_flags.DEFINE_enum(
        "device", "cpu", ["cpu", "cuda"], "Device to compute on.", values
    )


def create_workloads(
    row: Row, precision: str, missing: Container[str]
) -> Iterator[tuple[str, timing.Workload]]:
    """Yields (name, workload) of a row's contestants, but the `missing`."""
    workload = row._asdict() | {"precision": precision, "device": FLAGS.device}
    workload["num_texts"] = FLAGS.num_texts
    for flag in ("bert_config_file", *row.needs):
        workload[flag] = os.path.abspath(str(FLAGS[flag].value))
    for name, variants in row.variants.items():
        if name in missing:
            continue
        for variant in variants.get(precision, ()):
            # A Workload has more entries than each benchmark sets.
            yield name, cast("timing.Workload", workload | {"variant": variant})


def start_contestant(
    name: str,
    workload: timing.Workload,
    folder: str,
    stack: contextlib.ExitStack,
) -> timing.Contestant | None:
    """Starts a contestant. If it fails, prints why, and returns None."""
    try:
        return timing.Contestant(name, workload, folder, stack)
    except RuntimeError as error:
        print(f"{name} {workload['variant']} FAILED:\n{error}", file=sys.stderr)
        return None


def time_row(
    row: Row, contestants: Sequence[timing.Contestant]
) -> Iterator[dict[str, str]]:
    """Times the contestants of a row. Yields one result for each contestant."""
    for _ in range(FLAGS.repeats or row.repeats):
        for contestant in contestants:
            contestant.repeat()
    peers = [
        contestant.seconds()
        for contestant in contestants
        if contestant.name in PEERS
    ]
    for contestant in contestants:
        seconds = contestant.seconds()
        last = contestant.measurements[-1]
        notes = last["notes"] | contestant.ready["versions"]
        yield {
            "row": f"{row.name}_{contestant.workload['precision']}",
            "contestant": (
                f"{contestant.name} {contestant.workload['variant']}".strip()
            ),
            "seconds": f"{seconds / row.num_steps:.4g}",
            "seq/s": f"{contestant.ready['num_sequences'] / seconds:.4g}",
            "GiB": f"{last['peak_memory_gib']:.2f}",
            "ratio": f"{min(peers) / seconds:.2f}" if peers else "",
            "notes": ", ".join(f"{name} {notes[name]}" for name in notes),
        }


def choose_rows() -> Iterator[tuple[Row, str]]:
    """Yields each (row, precision) to time, and prints which files it lacks."""
    all_rows = (
        (row, precision)
        for row in ROWS
        for precision in next(iter(row.variants.values()))
    )
    for row, precision in all_rows:
        name = f"{row.name}_{precision}"
        if not any(fnmatch.fnmatch(name, rows) for rows in FLAGS.rows):
            continue
        missing = [f"--{flag}" for flag in row.needs if not FLAGS[flag].value]
        on_gpu = row.work in ("pretrain", "inference")
        if missing:
            print(f"{name} needs {' and '.join(missing)}: not timed")
        elif FLAGS.device == "cpu" or (on_gpu and precision != "int8"):
            yield row, precision


def print_results(results: Sequence[Mapping[str, str]]) -> None:
    """Prints dicts as an aligned Markdown table."""
    lines = [list(results[0]), *(list(result.values()) for result in results)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print(f"| {' | '.join(map(str.ljust, line, widths))} |", flush=True)


def run_row(
    row: Row, precision: str, missing: Container[str], folder: str
) -> bool:
    """Times a row, prints its table, and returns whether all have started."""
    print(f"{row.name}_{precision}", file=sys.stderr)
    with contextlib.ExitStack() as stack:
        started = [
            start_contestant(name, workload, folder, stack)
            for name, workload in create_workloads(row, precision, missing)
        ]
        contestants = [*filter(None, started)]
        if contestants:
            print_results(list(time_row(row, contestants)))
    return all(started)


def main(_: list[str]) -> int:
    """Times the rows, and returns the exit status: 1 if a contestant failed."""
    missing = {name for name in PEERS if not importlib.util.find_spec(name)}
    print(f"Not installed, so not timed: {missing or 'none'}")
    with tempfile.TemporaryDirectory() as folder:
        succeeded = [
            run_row(row, precision, missing, folder)
            for row, precision in choose_rows()
        ]
    return int(not all(succeeded))


if __name__ == "__main__":
    define_flags()
    app.run(main)
