"""Learns a WordPiece vocabulary from raw text.

    python create_vocabulary.py --input_file=corpus.txt --output_file=vocab.txt

The output is read by every other script as --vocab_file.
"""

import collections
import itertools
import time
from collections.abc import Sequence

from absl import flags, logging

from data.io import text_files
from data.text import vocabulary
from files import paths
from files.atomic import atomic_open
from training import cli, progress

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags."""
    cli.define_path(
        "input_file",
        paths.Kind.INPUT_FILES,
        "Text files to read, comma-separated paths or patterns; .gz too.",
    )
    cli.define_path(
        "output_file", paths.Kind.OUTPUT_FILE, "The vocabulary to write."
    )
    flags.DEFINE_integer(
        "vocab_size",
        30522,
        "Most WordPieces.",
        lower_bound=6,
        upper_bound=1 << 24,
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Lower-case the text, for an uncased vocabulary.",
    )
    flags.DEFINE_integer(
        "num_unused",
        99,
        "[unusedN] rows, for words to be added later. From 99 on, the special "
        "tokens have the ids of the released vocabularies.",
        lower_bound=0,
    )


def main(_: Sequence[str]) -> None:
    """Counts the words, learns the vocabulary, writes it."""
    start = time.monotonic()
    input_files = text_files.expand_patterns(FLAGS.input_file, "input_file")
    vocabulary.check_sizes(FLAGS.vocab_size, FLAGS.num_unused)
    dropped = collections.Counter()
    lines = itertools.chain.from_iterable(
        text_files.read_lines(path, dropped) for path in input_files
    )
    counts = vocabulary.count_words(
        progress.track(lines, unit="line"), FLAGS.do_lower_case
    )
    if warning := text_files.dropped_bytes_warning(dropped):
        logging.warning(warning)
    logging.info("Learning from %d different words", len(counts))
    with atomic_open(FLAGS.output_file) as file:
        vocab = vocabulary.learn_vocabulary(
            counts, FLAGS.vocab_size, FLAGS.num_unused
        )
        file.write("".join(f"{token}\n" for token in vocab).encode())
    unknown = vocabulary.unknown_share(vocab, counts)
    print(
        f"{len(vocab):,} WordPieces written to {FLAGS.output_file} in "
        f"{time.monotonic() - start:.1f} s; {unknown:.3%} [UNK] in the input"
    )


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, define_flags, ("input_file", "output_file"))


if __name__ == "__main__":
    command()
