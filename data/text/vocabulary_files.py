"""Reads a vocab.txt or a tokenizer.json, and checks that it fits a model."""

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from absl import logging

from data.io import compressed_files, text_files
from files.paths import StrPath
from model_folders.formats.huggingface.vocabulary import parse_tokenizer

# SentencePiece marks the beginning of a word with U+2581, and GPT-2 a space
# with U+0120.
_FOREIGN_MARKS = ("\u2581", "\u0120")


class Vocabulary(NamedTuple):
    """The WordPieces of a vocabulary file, and how it is cased.

    Attributes:
        contents: decompressed contents, without a byte order mark. If the file
            is a tokenizer.json, the contents of an equivalent vocab.txt.
        tokens: the WordPieces in the order of their ids.
        stated_casing: whether the tokenizer.json lower-cases text. None if the
            file is another one.
    """

    contents: bytes
    tokens: list[str]
    stated_casing: bool | None


def read_vocabulary(vocab_file: StrPath) -> Vocabulary:
    """Reads a vocabulary with one WordPiece a line, or a tokenizer.json.

    Raises:
        OSError: the file cannot be read.
        ValueError: the first line is not text, or the file is a tokenizer.json
            whose tokenizer is not BERT's.
    """
    path = os.fspath(vocab_file)
    with text_files.open_binary(vocab_file) as file:
        contents: bytes = file.read().removeprefix(BOM_UTF8)
    stated_casing: bool | None = None
    if compressed_files.uncompressed_name(path).endswith(".json"):
        contents, stated_casing = parse_tokenizer(contents, path)
    first, end, _ = contents.partition(b"\n")
    text_files.check_first_line(first + end, path)
    # As in Google's code, only a line feed ends a line, and bytes that are not
    # UTF-8 are dropped.
    text = contents.decode("utf-8", "ignore").removesuffix("\n")
    tokens = [line.strip() for line in text.split("\n")]
    return Vocabulary(contents, tokens, stated_casing)


def check_casing(
    path: StrPath, stated_casing: bool | None, do_lower_case: bool | None
) -> None:
    """Checks that the user chose the casing that a tokenizer.json states.

    Args:
        path: path of the vocabulary, for the message.
        stated_casing: whether the tokenizer.json lower-cases text. None if the
            vocabulary is another file.
        do_lower_case: what the user chose. None if the user chose nothing.

    Raises:
        ValueError: the two differ.
    """
    if stated_casing is None or do_lower_case in (None, stated_casing):
        return
    raise ValueError(
        f"{os.fspath(path)}: `normalizer.lowercase` is "
        f"{str(stated_casing).lower()}; set do_lower_case={stated_casing} (as "
        f"a flag, --do_lower_case={stated_casing})"
    )


def count_entries(tokens: Sequence[str], at_least: int = 0) -> int:
    """Returns the size of a vocabulary, without empty lines at the end.

    Editors may add such lines. The first `at_least` lines always count.
    """
    num_entries = len(tokens)
    while num_entries > at_least and not tokens[num_entries - 1]:
        num_entries -= 1
    return num_entries


def check_tokens(
    path: StrPath,
    tokens: Sequence[str],
    special_tokens: Iterable[str],
    vocab_size: int | None = None,
) -> None:
    """Checks that a vocabulary contains WordPieces, and fits a model.

    Logs a warning if it is smaller than `vocab_size`.

    Args:
        path: path of the vocabulary, for messages.
        tokens: its lines.
        special_tokens: WordPieces that it must contain.
        vocab_size: size of the model's vocabulary. None skips this check.

    Raises:
        ValueError: a special token is missing, there are more lines than
            `vocab_size`, or the lines are not WordPieces.
    """
    # Every word would become [UNK].
    num_foreign = sum(token[:1] in _FOREIGN_MARKS for token in tokens)
    if num_foreign > len(tokens) // 20:
        raise ValueError(
            f"{path}: {num_foreign} words begin with \u2581 or \u0120, so "
            "this is the vocabulary of SentencePiece or GPT-2. Use a "
            "vocabulary of WordPieces"
        )
    present = {*tokens}
    missing = [name for name in special_tokens if name not in present]
    if missing:
        raise ValueError(
            f"{path}: {', '.join(missing)} not found in {len(tokens)} "
            "lines; use a BERT vocabulary, one WordPiece a line"
        )
    if vocab_size is not None:
        check_size(path, tokens, vocab_size)


def check_size(path: StrPath, tokens: Sequence[str], vocab_size: int) -> None:
    """Checks that a vocabulary is not larger than the model's.

    Logs a warning if it is smaller.

    Args:
        path: path of the vocabulary, for messages.
        tokens: its lines.
        vocab_size: size of the model's vocabulary.

    Raises:
        ValueError: there are more lines than `vocab_size`.
    """
    num_entries = count_entries(tokens, vocab_size)
    if num_entries > vocab_size:
        raise ValueError(
            f"{path} is larger than the model: {num_entries} WordPieces, "
            f"but vocab_size is {vocab_size}; use the vocabulary that the "
            "model was trained with"
        )
    if num_entries < vocab_size:
        logging.warning(
            f"{path} is smaller than the model: {num_entries} WordPieces, "
            f"but vocab_size is {vocab_size}; the model's last "
            f"{vocab_size - num_entries} embeddings stay unused"
        )


def check_same_tokens(
    path: StrPath,
    tokens: Sequence[str],
    other: StrPath,
    source: str,
) -> None:
    """Checks that another file contains the same WordPieces as a vocabulary.

    The first may have words instead of entries [unusedN] of the other one, and
    either may have more words.

    Args:
        path: path of the vocabulary.
        tokens: its lines.
        other: path of the other vocabulary, a vocab.txt or a tokenizer.json.
        source: model or file that the other vocabulary belongs to, for the
            message.

    Raises:
        OSError: the other vocabulary cannot be read.
        ValueError: an id has another WordPiece in the other vocabulary.
    """
    if os.path.realpath(other) == os.path.realpath(path):
        return
    pairs = zip(read_vocabulary(other).tokens, tokens, strict=False)
    for line_number, (theirs, ours) in enumerate(pairs, start=1):
        if theirs != ours and not theirs.startswith("[unused"):
            raise ValueError(
                f"{path} is not the vocabulary of {source}: line "
                f"{line_number} is {ours!r} instead of {theirs!r}. Set "
                f"vocab_file (--vocab_file) to {other}, or leave it out"
            )
