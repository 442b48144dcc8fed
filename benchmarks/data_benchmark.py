"""Times tokenizers and the making of pretraining records, side by side.

    python benchmarks/data_benchmark.py \
        --corpus=corpus.txt --vocab_file=vocab.txt

Prints a line for each figure: rates, and the most memory that any process
of the work held. The package `tokenizers` is timed too where it is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from absl import app, flags  # noqa: E402

from data.text import tokenization  # noqa: E402

FLAGS = flags.FLAGS
# The original on 2 cores of an AMD EPYC (Zen 5): 15.6 MB of text,
# dupe_factor 5.
ORIGINAL_MB_PER_SECOND = 1.1
ORIGINAL_INSTANCES_PER_SECOND = 2610
REPEATS = 3


def define_flags():
    """Defines the flags."""
    flags.DEFINE_string("corpus", None, "A text file, a sentence a line.")
    flags.DEFINE_string("vocab_file", None, "A vocabulary, uncased.")
    flags.DEFINE_integer("dupe_factor", 5, "Times to go through the corpus.")
    flags.DEFINE_integer(
        "repeat_to_mb",
        0,
        "Also make records from the corpus repeated to this many megabytes, to "
        "show that memory does not grow.",
    )
    flags.DEFINE_bool("learn_vocabulary", True, "Time create_vocabulary.py.")
    flags.mark_flags_as_required(["corpus", "vocab_file"])


def show(what, value, unit, reference=None):
    """Prints a figure, and how many times a reference it is."""
    ratio = f"  ({value / reference:.1f} x the original's)" if reference else ""
    print(f"{what:52} {value:12,.1f} {unit}{ratio}", flush=True)


def show_rate(what, num_mb, function):
    """Shows megabytes a second, of the best of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    show(what, num_mb / min(times), "MB/s", ORIGINAL_MB_PER_SECOND)


def time_tokenizers(lines):
    """Times every tokenizer on the lines of the corpus."""
    num_mb = sum(len(line.encode()) + 1 for line in lines) / 1e6

    def full():
        tokenizer = tokenization.FullTokenizer(FLAGS.vocab_file)
        for line in lines:
            tokenizer.tokenize(line)

    show_rate("FullTokenizer, new each time, one process", num_mb, full)
    time_layer(lines, num_mb)
    try:
        import tokenizers
    except ImportError:
        print("tokenizers is not installed: not timed")
        return
    peer = tokenizers.BertWordPieceTokenizer(FLAGS.vocab_file, lowercase=True)
    show_rate(
        f"tokenizers {tokenizers.__version__}, its own threads",
        num_mb,
        lambda: peer.encode_batch(lines, add_special_tokens=False),
    )


def time_layer(lines, num_mb):
    """Times the tokenizer inside the graph."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf

    from data.text import tokenizer_layer

    layer = tokenizer_layer.TokenizerLayer(FLAGS.vocab_file)
    # Long enough for the start of the pipeline not to count.
    repeats = 1 + int(50 / num_mb)
    dataset = (
        tf.data.Dataset.from_tensor_slices(lines)
        .repeat(repeats)
        .batch(1024)
        .map(
            lambda texts: tf.size(layer(texts).flat_values),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
    )
    show_rate(
        f"TokenizerLayer in tf.data, {os.cpu_count()} processors",
        num_mb * repeats,
        lambda: dataset.reduce(0, lambda total, size: total + size),
    )


def time_script(what, corpus, *arguments, script="create_pretraining_data.py"):
    """Runs a script; shows its rate and the memory of its processes."""
    folder = Path(tempfile.mkdtemp())
    start = time.perf_counter()
    with subprocess.Popen(
        [
            sys.executable,
            ROOT / script,
            f"--input_file={corpus}",
            f"--output_file={folder}/out",
            *arguments,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        peaks = {}
        watcher = threading.Thread(target=_watch, args=(process, peaks))
        watcher.start()
        output, errors = process.communicate()
        watcher.join()
    seconds = time.perf_counter() - start
    shutil.rmtree(folder)
    if process.returncode:
        raise RuntimeError(f"{what} failed: {errors}")
    return output, seconds, max(peaks.values(), default=0) / 1024


def _watch(process, peaks):
    """Records the peak memory (KiB) of a process and its children, by id."""
    while process.poll() is None:
        ids = [process.pid]
        try:
            path = f"/proc/{process.pid}/task/{process.pid}/children"
            ids += map(int, Path(path).read_text().split())
        except OSError:
            pass
        for pid in ids:
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    peaks[pid] = int(line.split()[1])
        time.sleep(0.05)


def time_records(what, corpus, *arguments):
    """Shows instances a second and memory of create_pretraining_data.py."""
    output, seconds, peak = time_script(
        what,
        corpus,
        f"--vocab_file={FLAGS.vocab_file}",
        f"--dupe_factor={FLAGS.dupe_factor}",
        *arguments,
    )
    num_instances = int(output.split()[0].replace(",", ""))
    show(
        what,
        num_instances / seconds,
        "instances/s",
        ORIGINAL_INSTANCES_PER_SECOND,
    )
    show(f"  {num_instances:,} instances, {seconds:.1f} s; memory", peak, "MiB")


def main(_):
    """Prints all figures."""
    lines = Path(FLAGS.corpus).read_text().splitlines()
    time_tokenizers([line for line in lines if line])
    time_records("default form, one process", FLAGS.corpus)
    for num_processes in (1, 0):
        time_records(
            f"scalable form, {num_processes or os.cpu_count()} process(es)",
            FLAGS.corpus,
            f"--num_processes={num_processes}",
        )
    if FLAGS.learn_vocabulary:
        output, seconds, _ = time_script(
            "create_vocabulary.py", FLAGS.corpus, script="create_vocabulary.py"
        )
        print(output.strip())
    if FLAGS.repeat_to_mb:
        text = Path(FLAGS.corpus).read_bytes().rstrip() + b"\n\n"
        with tempfile.NamedTemporaryFile() as repeated:
            for _ in range(FLAGS.repeat_to_mb * 1_000_000 // len(text) + 1):
                repeated.write(text)
            repeated.flush()
            time_records(
                f"scalable form, {FLAGS.repeat_to_mb} MB",
                repeated.name,
                "--num_processes=0",
            )


if __name__ == "__main__":
    define_flags()
    app.run(main)
