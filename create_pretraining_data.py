"""Makes the TFRecords that run_pretraining.py reads, from raw text.

    python create_pretraining_data.py --input_file=corpus.txt \
        --vocab_file=vocab.txt --output_file=pretraining.tfrecord

The input has one sentence a line and a blank line between documents. By
default the instances, and their order, are those of the original script.
"""

import functools
import gc
import random
import time

from absl import flags, logging

from data import files, pretraining, records, tokenization
from training import cli, progress

FLAGS = flags.FLAGS


def define_flags():
    """Defines the flags."""
    flags.DEFINE_string(
        "input_file",
        None,
        "Text files to read, comma-separated paths or patterns; .gz too.",
    )
    flags.DEFINE_string(
        "output_file", None, "TFRecord files to write, comma-separated."
    )
    flags.DEFINE_string("vocab_file", None, "The model's vocabulary.")
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Lower-case the text: true for uncased models, false for cased ones.",
    )
    flags.DEFINE_bool(
        "do_whole_word_mask",
        False,
        "Mask all WordPieces of a word, or none of them.",
    )
    flags.DEFINE_integer(
        "max_seq_length", 128, "WordPieces in an instance.", lower_bound=5
    )
    flags.DEFINE_integer(
        "max_predictions_per_seq",
        20,
        "Most masked WordPieces in an instance.",
        lower_bound=1,
    )
    flags.DEFINE_integer("random_seed", 12345, "Seed of every draw.")
    flags.DEFINE_integer(
        "dupe_factor",
        10,
        "Times to go through the input, with different masks.",
        lower_bound=1,
    )
    flags.DEFINE_float(
        "masked_lm_prob",
        0.15,
        "Share of WordPieces to mask.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_float(
        "short_seq_prob",
        0.1,
        "Share of sequences made shorter than max_seq_length.",
        lower_bound=0.0,
        upper_bound=1.0,
    )


def write_instances(instances, tokenizer, writer):
    """Writes instances as records of the original's features.

    Args:
        instances: list of TrainingInstance.
        tokenizer: a FullTokenizer.
        writer: an open RecordWriter.
    """
    for instance in progress.track(instances, len(instances), "instance"):
        features = pretraining.instance_features(
            instance,
            tokenizer,
            FLAGS.max_seq_length,
            FLAGS.max_predictions_per_seq,
        )
        writer.write(records.encode_example(features))


def main(_):
    """Reads the text, creates the instances, writes the records."""
    start = time.monotonic()
    input_files = files.expand_patterns(FLAGS.input_file, "input_file")
    tokenization.check_vocab(FLAGS.vocab_file)
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, FLAGS.do_lower_case
    )
    output_files = FLAGS.output_file.split(",")
    # Millions of lists, none of them in a cycle: looking for cycles would
    # take half the time.
    gc.disable()
    # Opened first: an output that cannot be written is found before the work.
    with records.RecordWriter(output_files) as writer:
        instances = pretraining.create_training_instances(
            input_files,
            tokenizer,
            FLAGS.max_seq_length,
            FLAGS.dupe_factor,
            FLAGS.short_seq_prob,
            FLAGS.masked_lm_prob,
            FLAGS.max_predictions_per_seq,
            random.Random(FLAGS.random_seed),
            FLAGS.do_whole_word_mask,
            functools.partial(progress.track, unit="document"),
        )
        logging.info("The first instance:\n%s", instances[0])
        write_instances(instances, tokenizer, writer)
    print(
        f"{len(instances):,} instances from {len(input_files)} file(s) "
        f"written to {FLAGS.output_file} in {time.monotonic() - start:.1f} s"
    )


if __name__ == "__main__":
    cli.run(main, define_flags, ("input_file", "output_file", "vocab_file"))
