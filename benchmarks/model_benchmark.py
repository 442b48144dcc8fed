"""Times this project beside KerasHub and transformers, in one run.

    make bench          # creates its own environment
    make bench-optimum  # rows `pair`, because optimum needs old transformers

    python benchmarks/model_benchmark.py --minilm_dir=DIR --mrpc_dir=DIR \
        --squad_file=dev-v1.1.json --output_file=results.json

A contestant is this project or another library. The contestants of a row take
turns (race.py), so that slow minutes of the machine affect all of them. The
table shows the median of the repeats. If a contestant can run in several
variants, the benchmark tries all of them, and times only the fastest. If the
processor only emulates bfloat16, the benchmark skips rows in bfloat16, unless
--rows contains their full names.

MFU is the operations per second of the work, divided by the operations per
second of TensorFlow's product of two large matrices in the same precision. The
product is measured before and after the row. training/callbacks/summaries.py
counts the operations of matrix products in training. A forward pass needs a
third of them.

`ratio` is the fastest peer's time divided by the contestant's time. If it is
above 1, the contestant is faster. `GiB` is the peak memory of the contestant's
process, including the warm-up.

The rows, with BERT-Base by default:

    pretrain   one training step on 16 sequences of 128 WordPieces with 20
               predictions, with dropout, clipping and AdamW. KerasHub predicts
               no next sentence. transformers predicts at every position, not
               only at masked positions.
    inference  the encoder on batches of 8 x 128, 1 x 128 and 1 x 16 ids, in
               Keras and in the engines of an export. In int8, torch runs with
               dynamic quantization.
    mrpc       fine-tuning MiniLM (--minilm_dir, a Hugging Face folder) on
               MRPC (--mrpc_dir), in batches of 32 texts of at most 128
               WordPieces
    classify   labeling sentences of MRPC, 1, 32 or 1,000 at a time, from text
               to label: MiniLM's exports with `serving.load`, and the pipeline
               of transformers
    pair       labeling pairs of sentences, beside optimum with ONNX Runtime
               and sentence-transformers' cross-encoder (`make bench-optimum`)
    answer     answering 200 questions of --squad_file with an export, from text
               to the n best answers
    tag        named entities in 1,000 sentences of --conll_file
    embed      embedding vectors of 1,000 sentences of MRPC
    startup    run_classifier.py from its start to the end of its first step,
               on the texts of examples/samples. `startup_predict` runs
               predict.py with a classifier of MiniLM's size from its start to
               its first answer.
    serve      serve.py with 1, 8 and 64 clients (needs requirements/serve.txt)
    records    create_pretraining_data.py on --corpus (one sentence per line)
               with --vocab_file, in five passes. `records_scalable` uses one
               process, or one process for each processor.
    vocabulary tools.create_vocabulary on --corpus
    words      tokenizing --corpus, in MB/s: FullTokenizer in one process,
               TokenizerLayer on 8,192 lines with 1,024, 32 or 1 lines in a
               call (the notes count processor time), and the package
               tokenizers

Rows in int8 also time torch in bfloat16, in its fastest variant. With
--device=cuda a GPU computes the rows `pretrain` and `inference`. Then this
project and KerasHub need the package tensorflow[and-cuda].
"""

import contextlib
import fnmatch
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from absl import app, flags

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import race  # noqa: E402

FLAGS = flags.FLAGS
# Keys of a result that are written to --output_file, but not printed.
HIDDEN = ("all seconds", "versions")
# Names of contestants that failed in all their variants.
FAILED: list[str] = []


class Row(NamedTuple):
    """Work to time, once in each precision that the first contestant supports.

    Attributes:
        name: name of the row, without the precision.
        work: name of the function in the contestants' modules that creates
            the work.
        variants: {contestant: {precision: list of variants}}. Only the fastest
            variant is timed. A list of lists creates one contestant for each
            inner list.
        batch_size: number of sequences in a step, or number of clients.
        seq_length: number of WordPieces in a sequence.
        num_steps: number of steps in a repeat, or for a server the length of a
            repeat in seconds.
        repeats: number of timed repeats of each contestant.
        warmup_steps: number of steps before the first repeat.
        num_predictions: number of masked positions in a sequence.
        needs: names of flags that must be set to time the row.
    """

    name: str
    work: str
    variants: dict
    batch_size: int
    seq_length: int
    num_steps: int
    repeats: int = 3
    warmup_steps: int = 0
    num_predictions: int = 20
    needs: tuple = ()


def both(float32, bfloat16):
    """Returns the dict {"float32": float32, "bfloat16": bfloat16}."""
    return {"float32": float32, "bfloat16": bfloat16}


PEERS = ("keras_hub", "transformers", "optimum", "sentence_transformers")

OURS = both([""], [""])
AUTOCAST = both([""], ["autocast"])
IN_BFLOAT16 = both([""], ["autocast", "bfloat16"])
MRPC = {"ours": OURS, "transformers": AUTOCAST}
PRETRAIN = MRPC | {"keras_hub": OURS}
INFERENCE = {
    "ours": {
        "float32": [["float32"], ["litert"], ["onnx"]],
        "bfloat16": ["mixed_bfloat16", "bfloat16"],
        "int8": ["litert"],
    },
    "keras_hub": both([""], ["mixed_bfloat16", "bfloat16"]),
    "transformers": IN_BFLOAT16
    | {"int8": [["int8"], ["autocast", "bfloat16"]]},
}
ENGINES = {
    "float32": [["saved_model"], ["litert"]],
    "bfloat16": ["saved_model"],
    "int8": ["litert"],
}
ASK = {
    "ours": ENGINES,
    "transformers": IN_BFLOAT16 | {"int8": ["autocast", "bfloat16"]},
}
EMBED = {
    "ours": ENGINES,
    "sentence_transformers": both([""], ["bfloat16"]) | {"int8": ["bfloat16"]},
}
PAIR = {
    "ours": {"float32": [["litert"], ["onnx"]], "int8": [["litert"], ["onnx"]]},
    "optimum": {"float32": [""], "int8": [""]},
    "sentence_transformers": {"float32": [""]},
}
PREDICT = {
    "ours": {"float32": [["saved_model"], ["litert"]], "int8": ["litert"]},
    "optimum": {"float32": [""], "int8": [""]},
}
STARTUP = {"ours": {"float32": [""]}}
SERVE = {
    "server": {
        "float32": [["litert"], ["saved_model"]],
        "int8": ["litert"],
    }
}
RECORDS = {"data": {"float32": [""]}}
SCALABLE = {"data": {"float32": [["--num_processes=1"], ["--num_processes=0"]]}}
WORDS = {
    "data": {
        "float32": [
            ["FullTokenizer"],
            *([f"TokenizerLayer {size}"] for size in (1024, 32, 1)),
        ]
    },
    "transformers": {"float32": [""]},
}

ON_MRPC = ("minilm_dir", "mrpc_dir")
ON_SQUAD = ("minilm_dir", "squad_file")
ON_CONLL = ("minilm_dir", "conll_file")
ON_TEXT = ("corpus", "vocab_file")
ROWS = [
    Row("pretrain", "pretrain", PRETRAIN, 16, 128, 1, warmup_steps=1),
    Row("inference_8x128", "inference", INFERENCE, 8, 128, 2, 7, 2),
    Row("inference_1x128", "inference", INFERENCE, 1, 128, 10, 7, 10),
    Row("inference_1x16", "inference", INFERENCE, 1, 16, 20, 7, 20),
    Row("mrpc", "mrpc", MRPC, 32, 128, 10, needs=ON_MRPC),
    Row("answer", "answer", ASK, 8, 384, 1, needs=ON_SQUAD),
    Row("classify_1", "classify", ASK, 1, 128, 64, needs=ON_MRPC),
    Row("classify_32", "classify", ASK, 32, 128, 4, needs=ON_MRPC),
    Row("classify_1000", "classify", ASK, 1000, 128, 1, needs=ON_MRPC),
    Row("pair_1", "classify", PAIR, 1, 128, 64, needs=ON_MRPC),
    Row("pair_32", "classify", PAIR, 32, 128, 8, needs=ON_MRPC),
    Row("tag", "tag", ASK, 32, 128, 1, needs=ON_CONLL),
    Row("embed", "embed", EMBED, 1000, 128, 1, needs=ON_MRPC),
    Row("startup", "startup", STARTUP, 16, 64, 1),
    Row("startup_predict", "predict", PREDICT, 1, 64, 1, needs=("minilm_dir",)),
    Row("serve_1", "load", SERVE, 1, 128, 5),
    Row("serve_8", "load", SERVE, 8, 128, 5),
    Row("serve_64", "load", SERVE, 64, 128, 5),
    Row("records", "records", RECORDS, 1, 0, 1, 1, needs=ON_TEXT),
    Row("records_scalable", "records", SCALABLE, 1, 0, 1, 1, needs=ON_TEXT),
    Row("vocabulary", "vocabulary", RECORDS, 1, 0, 1, 1, needs=("corpus",)),
    Row("words", "words", WORDS, 1, 0, 1, needs=ON_TEXT),
]


def define_flags():
    """Defines the flags of this script."""
    flags.DEFINE_list("rows", ["*"], "Names or patterns of the rows to time.")
    flags.DEFINE_integer("repeats", None, "Number of repeats in each row.", 1)
    flags.DEFINE_string(
        "bert_config_file",
        str(race.ROOT / "examples/configs/uncased_L-12_H-768_A-12.json"),
        "bert_config.json for the rows pretrain, inference, startup and serve.",
    )
    for name, help_text in (
        ("minilm_dir", "Folder of MiniLM in Hugging Face's format."),
        ("mrpc_dir", "Folder that contains MRPC's train.tsv."),
        ("squad_file", "JSON file of the dev set of SQuAD v1.1."),
        ("conll_file", "Text file of a split of CoNLL-2003."),
        ("corpus", "Text file with one sentence per line."),
        ("vocab_file", "vocab.txt of an uncased vocabulary."),
        ("output_file", "JSON file for the results."),
    ):
        flags.DEFINE_string(name, None, help_text)
    flags.DEFINE_enum("device", "cpu", ["cpu", "cuda"], "Device to compute on.")


def is_installed(name):
    """Returns whether the package of a contestant is installed."""
    return name not in PEERS or bool(importlib.util.find_spec(name))


def start(name, row, precision, variant, folder, stack):
    """Starts a contestant. If it fails, prints the error and returns None."""
    spec = row._asdict() | {"precision": precision, "variant": variant}
    spec["device"] = FLAGS.device
    for flag in ("bert_config_file", *row.needs):
        value = FLAGS[flag].value
        spec[flag] = value and os.path.abspath(value)
    try:
        contestant = race.Contestant(name, spec, folder, stack)
        contestant.repeat()
        if contestant.seconds() < 2:
            # Time short work three times, because one short repeat is too
            # inexact to find the fastest variant.
            contestant.repeat()
            contestant.repeat()
    except RuntimeError as error:
        race.say(f"  {name} {variant} FAILED:\n{error}")
        return None
    seconds = contestant.seconds(min)
    race.say(f"  {name} {variant}: {seconds:.3f} s in the trial")
    return contestant


def start_all(row, precision, *where):
    """Starts all variants of a row's contestants, and keeps the fastest ones.

    `where` is the last two arguments of `start`.
    """
    contestants = []
    for name, by_precision in row.variants.items():
        if not is_installed(name) or precision not in by_precision:
            continue
        lists = by_precision[precision]
        for variants in lists if isinstance(lists[0], list) else [lists]:
            started = [start(name, row, precision, v, *where) for v in variants]
            started = [each for each in started if each]
            started.sort(key=lambda each: each.seconds(min))
            for slower in started[1:]:
                slower.close()
            contestants += started[:1]
            FAILED.extend([] if started else [name])
    return contestants


def time_row(row, precision, matmul, folder):
    """Times the contestants of a row. Yields one result for each contestant."""
    with contextlib.ExitStack() as stack:
        contestants = start_all(row, precision, folder, stack)
        for each in contestants:
            each.replies.clear()
        rates = [matmul.repeat()]
        if (busy := race.busy_processors()) > 0.2:
            race.say(f"  UNFAIR TIMES: {busy:.1f} processors do other work")
        for _ in range(FLAGS.repeats or row.repeats):
            for each in contestants:
                each.repeat()
    rates.append(matmul.repeat())
    # In int8 the rate is 0, because the matrix product is not measured.
    rate = max(rate.get(precision, 0.0) for rate in rates)
    flops = max((each.ready["flops"] for each in contestants), default=0)
    peers = [each.seconds() for each in contestants if each.name in PEERS]
    for each in contestants:
        seconds, num_sequences = each.seconds(), each.ready["num_sequences"]
        notes = each.replies[-1]["notes"]
        yield {
            "row": f"{row.name}_{precision}",
            "contestant": f"{each.name} {each.spec['variant']}".strip(),
            "seconds": seconds / row.num_steps,
            "seq/s": num_sequences / seconds,
            "MFU": flops / seconds / rate if flops and rate else None,
            "GiB": each.replies[-1]["peak_memory_gib"],
            "ratio": min(peers) / seconds if peers else None,
            "matmul GFLOP/s": rate / 1e9 or None,
            "notes": ", ".join(f"{k} {v:.2f}" for k, v in notes.items()),
            "all seconds": [reply["seconds"] for reply in each.replies],
            "versions": each.ready["versions"],
        }


def choose_rows(rates):
    """Yields each (row, precision) to time, and prints why others are skipped.

    `rates` is {precision: operations per second of a large matrix product}.
    """
    # Only a processor that emulates bfloat16 is slower in it than in float32.
    emulated = rates["bfloat16"] < rates["float32"]
    for row in ROWS:
        missing = [f"--{flag}" for flag in row.needs if not FLAGS[flag].value]
        for precision in next(iter(row.variants.values())):
            name = f"{row.name}_{precision}"
            if not any(fnmatch.fnmatch(name, rows) for rows in FLAGS.rows):
                continue
            slow = emulated and precision == "bfloat16"
            is_plain = precision != "int8"
            on_gpu = is_plain and row.work in ("pretrain", "inference")
            if row.work == "load" and not importlib.util.find_spec("uvicorn"):
                print(f"{name} needs requirements/serve.txt: not timed")
            elif missing:
                print(f"{name} needs {' and '.join(missing)}: not timed")
            elif slow and name not in FLAGS.rows:
                print(f"{name} needs --rows={name}: bfloat16 is emulated here")
            elif on_gpu or FLAGS.device == "cpu":
                yield row, precision


def print_results(results):
    """Prints an aligned Markdown table, and the versions of all packages."""

    def shown(cell):
        if isinstance(cell, float):
            return f"{cell:,.0f}" if cell >= 1000 else f"{cell:.4g}"
        return "" if cell is None else str(cell)

    if not results:
        return
    names = [name for name in results[0] if name not in HIDDEN]
    lines = [names] + [[shown(one[name]) for name in names] for one in results]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print(f"| {' | '.join(map(str.ljust, line, widths))} |", flush=True)
    packages = {p: v for one in results for p, v in one["versions"].items()}
    print(", ".join(f"{name} {packages[name]}" for name in sorted(packages)))


def main(_):
    """Times the rows, and prints the table."""
    for name in PEERS:
        if not is_installed(name):
            print(f"{name} is not installed: not timed")
    results = []
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        # This contestant measures the rate of a large matrix product.
        spec = {"work": "matmul", "device": FLAGS.device}
        spec |= {"num_steps": 1, "warmup_steps": 1}
        matmul = race.Contestant("ours", spec, folder, stack)
        for row, precision in choose_rows(matmul.repeat()):
            race.say(f"{row.name}_{precision}")
            results += time_row(row, precision, matmul, folder)
            if FLAGS.output_file:
                # Write after each row, so that an interrupted run leaves its
                # results.
                content = {"command": sys.argv[1:], "results": results}
                text = json.dumps(content, indent=2)
                Path(FLAGS.output_file).write_text(text + "\n")
    print_results(results)
    # The exit status reports failures. `start` has already printed them.
    return int(bool(FAILED))


if __name__ == "__main__":
    define_flags()
    app.run(main)
