"""Loads the tokenizer that fits a model."""

import os

from data.text.tokenization import FullTokenizer
from data.text.vocabulary_files import (
    Vocabulary,
    decide_casing,
    read_vocabulary,
)
from model_folders.reading.preset import Preset


def load_tokenizer(
    vocab_file: str | os.PathLike[str],
    do_lower_case: bool | None = None,
    preset: Preset | None = None,
    vocab_size: int | None = None,
    config_file: str = "the configuration",
) -> FullTokenizer:
    """Loads the tokenizer whose vocabulary and casing fit a model.

    Args:
        vocab_file: path of the vocabulary.
        do_lower_case: whether to lower-case text. None = as the files beside
            the vocabulary or the weights state.
        preset: Preset of the weights. None = only the vocabulary's folder may
            state the casing.
        vocab_size: size of the model's vocabulary. None skips this check.
            Without weights, it must be at most twice the vocabulary.
        config_file: path of the configuration, for messages.

    Raises:
        ValueError: the vocabulary does not fit the model. Or the flag and the
            files disagree on the casing, or none of them states it.
        OSError: the vocabulary cannot be read.
    """
    vocabulary = read_vocabulary(vocab_file)
    vocabulary.check_tokens()
    if vocab_size and preset is None:
        _check_size_of_new_model(vocabulary, vocab_size, config_file)
    if vocab_size is not None:
        vocabulary.check_size(vocab_size)
    casing = decide_casing(vocabulary, do_lower_case, preset)
    return FullTokenizer(vocabulary, casing)


def _check_size_of_new_model(
    vocabulary: Vocabulary, vocab_size: int, config_file: str
) -> None:
    """Raises a ValueError unless a vocabulary fits a model without weights.

    The vocabulary prescribes the model's size. A vocabulary that is a little
    smaller may be Google's.
    """
    num_entries = vocabulary.count_entries()
    if not num_entries <= vocab_size <= 2 * num_entries:
        raise ValueError(
            f"{vocabulary.path} contains {num_entries} WordPieces, but "
            f"vocab_size is {vocab_size}; set vocab_size to {num_entries} in "
            f"{config_file} or a copy of it"
        )
