"""Creates the tokenizer that fits a model, or that flags select."""

import os

from data.text import vocabulary_files
from data.text.casing import decide_casing
from data.text.tokenization import FullTokenizer
from model_folders.reading.preset import Preset


def load_tokenizer(
    vocab_file: str,
    do_lower_case: bool,
    *,
    is_casing_chosen: bool,
    vocab_size: int | None = None,
    preset: Preset | None = None,
    config_file: str = "the configuration",
) -> FullTokenizer:
    """Loads the tokenizer that the flags of a script select.

    Args:
        vocab_file: value of --vocab_file.
        do_lower_case: value of --do_lower_case.
        is_casing_chosen: whether the caller chose the casing. Otherwise
            `do_lower_case` True is only the default, and files may state
            another casing.
        vocab_size: size of the model's vocabulary. None skips this check.
        preset: Preset of the weights. None for random weights.
        config_file: path of the configuration, for messages.
    """
    flag = None if do_lower_case and not is_casing_chosen else do_lower_case
    return create_tokenizer(vocab_file, flag, preset, vocab_size, config_file)


def create_tokenizer(
    vocab_file: str | os.PathLike[str],
    do_lower_case: bool | None = None,
    preset: Preset | None = None,
    vocab_size: int | None = None,
    config_file: str = "the configuration",
) -> FullTokenizer:
    """Creates a FullTokenizer whose vocabulary and casing fit a model.

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
        ValueError: the vocabulary does not fit the model, or `decide_casing`
            raises an error.
        OSError: the vocabulary cannot be read.
    """
    tokenizer = FullTokenizer(vocab_file, None)
    tokenizer.check_vocab()
    if vocab_size and preset is None:
        _check_size_of_new_model(tokenizer, vocab_size, config_file)
    if vocab_size is not None:
        vocabulary_files.check_size(
            tokenizer.vocab_file, tokenizer.tokens, vocab_size
        )
    casing = decide_casing(tokenizer, do_lower_case, preset)
    return tokenizer.with_casing(casing)


def _check_size_of_new_model(
    tokenizer: FullTokenizer, vocab_size: int, config_file: str
) -> None:
    """Raises a ValueError unless a vocabulary fits a model without weights.

    The vocabulary prescribes the model's size. A vocabulary that is a little
    smaller may be Google's.
    """
    num_entries = vocabulary_files.count_entries(tokenizer.tokens)
    if not num_entries <= vocab_size <= 2 * num_entries:
        raise ValueError(
            f"{tokenizer.vocab_file} contains {num_entries} WordPieces, but "
            f"vocab_size is {vocab_size}; set vocab_size to {num_entries} in "
            f"{config_file} or a copy of it"
        )
