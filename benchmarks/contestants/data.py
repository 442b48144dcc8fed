"""This project's scripts and tokenizers as contestants, on --corpus.

Imports TensorFlow only for TokenizerLayer. Otherwise the scripts, which are
child processes, would start with the peak memory of TensorFlow.
"""

import subprocess
import sys
import time

from benchmarks import timing
from data.text.tokenization import FullTokenizer

PACKAGES = ["tensorflow"]


def records(workload: timing.Workload) -> timing.Work:
    """Creates pretraining records from five passes over the corpus."""
    command = [sys.executable, "create_pretraining_data.py", "--dupe_factor=5"]
    command += [f"--input_file={workload['corpus']}"]
    command += [f"--vocab_file={workload['vocab_file']}"]
    command += [
        f"--output_file={workload['folder']}/out",
        *workload["variant"].split(),
    ]

    def repeat(_: int) -> dict[str, float]:
        begin_time = time.perf_counter()
        output = subprocess.check_output(command, text=True)
        num_instances = int(output.split()[0].replace(",", ""))
        return {
            "instances/s": num_instances / (time.perf_counter() - begin_time)
        }

    return timing.Work(repeat, 0)


def words(workload: timing.Workload) -> timing.Work:
    """Tokenizes the corpus with FullTokenizer, or with TokenizerLayer.

    The variant "TokenizerLayer N" passes N texts to each call of the layer.
    """
    batch_size = workload["variant"].partition(" ")[2]
    if batch_size:
        return _words_in_batches(workload, int(batch_size))
    lines, num_mb = timing.read_corpus(workload)

    def repeat(_: int) -> None:
        # Create a new tokenizer for each repeat, because a tokenizer caches the
        # words that it has seen.
        tokenizer = FullTokenizer(workload["vocab_file"])
        for line in lines:
            tokenizer.tokenize(line)

    return timing.Work(repeat, num_mb)


def _words_in_batches(
    workload: timing.Workload, batch_size: int
) -> timing.Work:
    """Tokenizes a part of the corpus with TokenizerLayer."""
    # Import late, for the reason at the top of this module.
    import tensorflow as tf

    lines, num_mb = timing.read_corpus(workload, limit=8192)
    dataset = tf.data.Dataset.from_tensor_slices(lines)
    batches = list(dataset.batch(batch_size))
    layer = FullTokenizer(workload["vocab_file"]).layer
    tokenize = tf.function(
        lambda texts: layer(texts).flat_values,
        [tf.TensorSpec([None], tf.string)],
    )

    def repeat(_: int) -> dict[str, float]:
        begin_time = time.process_time()
        for texts in batches:
            tokenize(texts)
        return {"MB/s of CPU": num_mb / (time.process_time() - begin_time)}

    return timing.Work(repeat, num_mb)
