"""Learns a WordPiece vocabulary from raw text, or extends one.

    python create_vocabulary.py --input_file=corpus.txt --output_file=vocab.txt

The output is read by every other script as --vocab_file. With --extend=VOCAB it
is that vocabulary with words of the text in its [unusedN] rows, then at its
end; convert_checkpoint.py --extended_vocab_file makes a checkpoint for it.
"""

import collections
import itertools
import time
from collections.abc import Mapping, Sequence

from absl import flags, logging

from data.io import text_files
from data.text import tokenization, vocabulary
from files import paths
from files.atomic import atomic_open
from training import progress
from training.command_line import cli
from training.command_line import flags as common_flags

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags."""
    common_flags.define_corpus_flag()
    cli.define_path(
        "output_file", paths.Kind.OUTPUT_FILE, "The vocabulary to write."
    )
    flags.DEFINE_integer(
        "vocab_size",
        30522,
        "Maximum size of the vocabulary.",
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
        "Number of [unusedN] rows, for words to be added later. With 99 or "
        "more, the special tokens have the ids of the released vocabularies.",
        lower_bound=0,
    )
    cli.define_path(
        "extend",
        paths.Kind.INPUT_FILE,
        "Vocabulary to add words to; the other WordPieces keep their ids.",
    )
    flags.DEFINE_integer(
        "num_new_words",
        None,
        "Maximum words to add with --extend, in order of WordPieces saved; by "
        "default as many as there are [unusedN] rows.",
        lower_bound=1,
        upper_bound=1 << 24,
    )


def check_flags() -> None:
    """Refuses contradictory flags.

    Raises:
        ValueError: flags contradict each other or a file.
        OSError: the vocabulary to extend cannot be read.
    """
    if FLAGS.extend is None:
        if FLAGS.num_new_words is not None:
            raise ValueError("--num_new_words needs --extend, the vocabulary")
        vocabulary.check_sizes(FLAGS.vocab_size, FLAGS.num_unused)
        return
    for name in ("vocab_size", "num_unused"):
        if FLAGS[name].present:
            raise ValueError(
                f"--{name} is for a new vocabulary; with --extend give "
                "--num_new_words"
            )
    tokenization.check_vocab(FLAGS.extend)


def main(_: Sequence[str]) -> None:
    """Counts the words, learns the vocabulary, writes it."""
    start = time.monotonic()
    input_files = text_files.expand_patterns(FLAGS.input_file, "input_file")
    check_flags()
    dropped: collections.Counter[str] = collections.Counter()
    lines = itertools.chain.from_iterable(
        text_files.read_lines(path, dropped) for path in input_files
    )
    counts = vocabulary.count_words(
        progress.track(lines, None, "line", "Reading"), FLAGS.do_lower_case
    )
    if warning := text_files.dropped_bytes_warning(dropped):
        logging.warning(warning)
    logging.info("Learning from %d different words", len(counts))
    with atomic_open(FLAGS.output_file) as file:
        if FLAGS.extend:
            old = tokenization.read_vocab(FLAGS.extend)
            vocab = vocabulary.extend_vocabulary(
                old, counts, FLAGS.num_new_words
            )
            print(describe_extension(old, vocab, counts))
        else:
            vocab = vocabulary.learn_vocabulary(
                counts, FLAGS.vocab_size, FLAGS.num_unused
            )
        file.write("".join(f"{token}\n" for token in vocab).encode())
    unknown = vocabulary.unknown_share(vocab, counts)
    print(
        f"{len(vocab):,} WordPieces written to {FLAGS.output_file} in "
        f"{time.monotonic() - start:.1f} s; {unknown:.3%} [UNK] in the input"
    )


def describe_extension(
    old: Sequence[str], new: Sequence[str], counts: Mapping[str, int]
) -> str:
    """Describes the new words and the WordPieces that they save."""
    num_added = len(new) - len(old)
    num_replaced = sum(a != b for a, b in zip(old, new, strict=False))
    before, after = (
        vocabulary.num_pieces(vocab, counts) for vocab in (old, new)
    )
    return (
        f"{num_replaced + num_added:,} new words: {num_replaced:,} in "
        f"[unusedN] rows, {num_added:,} at the end; the input takes {after:,} "
        f"WordPieces instead of {before:,}"
    )


def command() -> None:
    """Runs the script as a command."""
    cli.run(main, define_flags, ("input_file", "output_file"))


if __name__ == "__main__":
    command()
