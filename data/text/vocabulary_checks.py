"""Checks that the WordPieces of a vocabulary file fit a model."""

import os
from collections.abc import Iterable, Sequence

from absl import logging

from data.text.vocabulary_files import read_vocabulary
from files.paths import StrPath

# SentencePiece marks the beginning of a word with U+2581, and GPT-2 a space
# with U+0120.
_FOREIGN_MARKS = ("\u2581", "\u0120")


def count_tokens(tokens: Sequence[str], at_least: int = 0) -> int:
    """Returns the number of WordPieces, without empty lines at the end.

    Editors may add such lines. The first `at_least` lines always count.
    """
    num_tokens = len(tokens)
    while num_tokens > at_least and not tokens[num_tokens - 1]:
        num_tokens -= 1
    return num_tokens


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
        _check_size(path, count_tokens(tokens, vocab_size), vocab_size)


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
    for row, (theirs, ours) in enumerate(pairs, start=1):
        if theirs != ours and not theirs.startswith("[unused"):
            raise ValueError(
                f"{path} is not the vocabulary of {source}: line {row} is "
                f"{ours!r} instead of {theirs!r}. Set vocab_file "
                f"(--vocab_file) to {other}, or leave it out"
            )


def _check_size(path: StrPath, num_tokens: int, vocab_size: int) -> None:
    """Raises a ValueError if the vocabulary is larger than the model's.

    Warns if it is smaller.
    """
    if num_tokens > vocab_size:
        raise ValueError(
            f"{path} is larger than the model: {num_tokens} WordPieces, "
            f"but vocab_size is {vocab_size}; use the vocabulary that the "
            "model was trained with"
        )
    if num_tokens < vocab_size:
        logging.warning(
            f"{path} is smaller than the model: {num_tokens} WordPieces, "
            f"but vocab_size is {vocab_size}; the model's last "
            f"{vocab_size - num_tokens} embeddings stay unused"
        )
