"""Times tokenizers and the making of pretraining records, side by side.

    python benchmarks/data_benchmark.py \
        --corpus=corpus.txt --vocab_file=vocab.txt

Prints a table of rates, and the most memory that any process of the work held.
The package `tokenizers` is timed too if it is installed.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from absl import app, flags  # noqa: E402

from benchmarks import race  # noqa: E402
from data.text import tokenization  # noqa: E402

FLAGS = flags.FLAGS
flags.DEFINE_string("corpus", None, "A text file, a sentence a line.")
flags.DEFINE_string("vocab_file", None, "A vocabulary, uncased.")
flags.DEFINE_integer("dupe_factor", 5, "Times to go through the corpus.")
flags.DEFINE_integer(
    "repeat_to_mb",
    0,
    "Also make records from the corpus repeated to this many megabytes, to "
    "show that memory does not grow.",
)
flags.mark_flags_as_required(["corpus", "vocab_file"])


def row(what, rate, unit, seconds, mib=None):
    """Returns a row of the table."""
    row = {"what": what, "rate": rate, "unit": unit, "seconds": seconds}
    return row | {"MiB": mib}


def time_script(module, corpus, *arguments):
    """Runs a script, given as a module.

    Returns:
        its output, seconds, and the most memory of a process of it, in MiB.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, *arguments]
        command += [
            f"--input_file={os.path.abspath(corpus)}",
            f"--output_file={folder}/out",
        ]
        log, started = Path(folder, "log"), time.perf_counter()
        with log.open("w") as writer:
            process = subprocess.Popen(command, stdout=writer, cwd=race.ROOT)
            # Of it and of the processes that it waited for.
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{module} failed")
        return log.read_text(), seconds, usage.ru_maxrss / 1024


def time_records(what, corpus, *arguments):
    """Returns the row of create_pretraining_data.py."""
    output, seconds, mib = time_script(
        "create_pretraining_data",
        corpus,
        f"--vocab_file={os.path.abspath(FLAGS.vocab_file)}",
        f"--dupe_factor={FLAGS.dupe_factor}",
        *arguments,
    )
    num_instances = int(output.split()[0].replace(",", ""))
    return row(what, num_instances / seconds, "instances/s", seconds, mib)


def time_repeated():
    """Returns the row of the corpus repeated to --repeat_to_mb."""
    text = Path(FLAGS.corpus).read_bytes().rstrip() + b"\n\n"
    what = f"scalable form, {FLAGS.repeat_to_mb} MB"
    with tempfile.NamedTemporaryFile() as repeated:
        for _ in range(FLAGS.repeat_to_mb * 1_000_000 // len(text) + 1):
            repeated.write(text)
        repeated.flush()
        return time_records(what, repeated.name, "--num_processes=0")


def time_tokenizers(lines):
    """Yields a row for every tokenizer on the lines of the corpus."""
    import tensorflow as tf

    num_mb = sum(len(line.encode()) + 1 for line in lines) / 1e6

    def rate(what, function, repeats=1):
        times = []
        for _ in range(3):
            started = time.perf_counter()
            function()
            times.append(time.perf_counter() - started)
        return row(what, repeats * num_mb / min(times), "MB/s", min(times))

    def full():
        tokenizer = tokenization.FullTokenizer(FLAGS.vocab_file)
        for line in lines:
            tokenizer.tokenize(line)

    yield rate("FullTokenizer, new each time, one process", full)
    layer = tokenization.FullTokenizer(FLAGS.vocab_file).layer
    # Long enough for the start of the pipeline not to count.
    repeats = 1 + int(50 / num_mb)
    dataset = tf.data.Dataset.from_tensor_slices(lines).repeat(repeats)
    dataset = dataset.batch(1024).map(
        lambda texts: tf.size(layer(texts).flat_values),
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    what = f"TokenizerLayer in tf.data, {os.cpu_count()} processors"
    yield rate(what, lambda: dataset.reduce(0, lambda a, b: a + b), repeats)
    try:
        import tokenizers
    except ImportError:
        race.say("tokenizers is not installed: not timed")
        return
    peer = tokenizers.BertWordPieceTokenizer(FLAGS.vocab_file, lowercase=True)
    yield rate(
        f"tokenizers {tokenizers.__version__}, its own threads",
        lambda: peer.encode_batch(lines, add_special_tokens=False),
    )


def main(_):
    """Prints the table."""
    corpus = FLAGS.corpus
    # Before TensorFlow is loaded: a process begins with its parent's memory.
    rows = [time_records("default form, one process", corpus)]
    for number in (1, 0):
        what = f"scalable form, {number or os.cpu_count()} process(es)"
        rows.append(time_records(what, corpus, f"--num_processes={number}"))
    if FLAGS.repeat_to_mb:
        rows.append(time_repeated())
    output, *cost = time_script("tools.create_vocabulary", corpus)
    race.say(output.strip())
    rows.append(row("tools.create_vocabulary", None, None, *cost))
    lines = Path(corpus).read_text().splitlines()
    rows += time_tokenizers([line for line in lines if line])
    race.print_table(rows)


if __name__ == "__main__":
    app.run(main)
