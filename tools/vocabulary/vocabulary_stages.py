"""The stages of tools/create_vocabulary.py, from a text to the vocabulary."""

import collections
import os
from collections.abc import Iterator, Mapping, Sequence

from absl import logging

from data.io import text_files
from data.pretraining.corpus_checks import guess_markup, warn_of_markup
from data.text import tokenization, vocabulary_learning
from files.atomic import atomic_open, write_bytes
from files.json_files import read_json
from model_folders import tokenizer_files
from model_folders.bert_config import BERT_CONFIG_FILE, BertConfig
from model_folders.formats.huggingface_tokenizer import read_stated_casing
from terminal import progress
from tools.vocabulary.vocabulary_config import VocabularyConfig


def choose_casing_file(config: VocabularyConfig) -> str | None:
    """Returns the path at which to write the casing.

    Returns None if a file beside --output_file already states the casing.

    Raises:
        ValueError: the file states another casing than --do_lower_case.
    """
    folder = os.path.dirname(config.output_file)
    stated = read_stated_casing(folder)
    if stated.get("do_lower_case") == (not config.do_lower_case):
        raise ValueError(
            f"{stated['file']} states another casing than --do_lower_case="
            f"{config.do_lower_case}; set another folder in --output_file"
        )
    path = os.path.join(folder, tokenizer_files.TOKENIZER_CONFIG_FILE)
    return None if os.path.isfile(path) else path


def read_old_vocab(config: VocabularyConfig) -> Sequence[str] | None:
    """Returns the WordPieces of --extend, None without this flag.

    Raises:
        ValueError: the file is not a vocabulary of BERT.
        OSError: the file cannot be read.
    """
    if not config.extend:
        return None
    tokenizer = tokenization.FullTokenizer(config.extend, config.do_lower_case)
    tokenizer.vocabulary.check_tokens()
    return tokenizer.tokens


def count_words_of_files(
    input_files: Sequence[str], do_lower_case: bool
) -> collections.Counter[str]:
    """Counts the words of text files. Warns if bytes are not UTF-8."""
    dropped: collections.Counter[str] = collections.Counter()
    markup: collections.Counter[str] = collections.Counter()

    def read_lines() -> Iterator[str]:
        for path in input_files:
            for line in text_files.read_lossy_lines(path):
                dropped[path] += line.num_dropped
                if name := guess_markup(line.text.strip()):
                    markup[name] += 1
                yield line.text

    counts = vocabulary_learning.count_words(
        progress.track(read_lines(), None, "line", "Reading"), do_lower_case
    )
    warn_of_markup(markup)
    for path, num_bytes in dropped.items():
        if num_bytes:
            logging.warning("%s: dropped %d bytes, not UTF-8", path, num_bytes)
    return counts


def write_vocabulary(
    config: VocabularyConfig,
    old_vocab: Sequence[str] | None,
    counts: Mapping[str, int],
) -> list[str]:
    """Learns or extends a vocabulary, and writes it to --output_file.

    Args:
        config: the file, the size of the vocabulary, and which words may enter.
        old_vocab: the WordPieces of --extend, None without this flag.
        counts: {word: number of occurrences in the text}.

    Returns:
        the WordPieces, in the order of their ids.

    Raises:
        OSError: the file cannot be written.
        ValueError: there is no word to learn or to add, the vocabulary has no
            room, or a package is not installed.
    """
    logging.info("Learning from %d different words", len(counts))
    # Open the output first. If it cannot be written, nothing is learned.
    with atomic_open(config.output_file) as file:
        if old_vocab is None:
            vocab = vocabulary_learning.learn_vocabulary(
                counts, config.vocab_size, config.num_unused
            )
        else:
            vocab = vocabulary_learning.extend_vocabulary(
                old_vocab, counts, config.num_new_words
            )
        file.write("".join(f"{token}\n" for token in vocab).encode())
    return vocab


def print_extension(
    old_vocab: Sequence[str], vocab: Sequence[str], counts: Mapping[str, int]
) -> None:
    """Prints how many words were added, and how many WordPieces they save.

    Args:
        old_vocab: the WordPieces of the vocabulary, in the order of their ids.
        vocab: the WordPieces of the extended vocabulary.
        counts: {word: number of occurrences in the text}.
    """
    num_added = len(vocab) - len(old_vocab)
    num_replaced = sum(
        before != after for before, after in zip(old_vocab, vocab, strict=False)
    )
    before_counts, after_counts = (
        vocabulary_learning.count_corpus_wordpieces(wordpieces, counts)
        for wordpieces in (old_vocab, vocab)
    )
    print(
        f"{num_replaced + num_added:,} new words: {num_replaced:,} replace "
        f"[unusedN], {num_added:,} are at the end; the input now consists of "
        f"{after_counts.num_wordpieces:,} WordPieces instead of "
        f"{before_counts.num_wordpieces:,}"
    )


def write_configuration(folder: str, vocab_size: int) -> None:
    """Writes the configuration of BERT-Base, for --bert_config_file.

    Logs a warning if the folder contains a configuration with another size of
    the vocabulary, which may be the user's and stays as it is.

    Args:
        folder: folder of the vocabulary.
        vocab_size: number of entries of the vocabulary.

    Raises:
        ValueError: the configuration in the folder is malformed.
        OSError: the file cannot be written.
    """
    path = os.path.join(folder, BERT_CONFIG_FILE)
    if not os.path.isfile(path):
        bert_config = BertConfig(vocab_size=vocab_size)
        write_bytes(path, bert_config.to_json_string().encode())
    elif (stated := read_json(path).get("vocab_size")) != vocab_size:
        logging.warning(
            "%s was there before and is not changed. Set vocab_size in it to "
            "%d. It is %s",
            path,
            vocab_size,
            stated,
        )
        return
    print(f"--bert_config_file={path} has a vocab_size of {vocab_size}")
