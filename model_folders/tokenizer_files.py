"""Creates the files that describe a tokenizer, and warns of odd ones.

Google's releases contain only vocab.txt. transformers adds
tokenizer_config.json and tokenizer.json. Without these files it silently
creates a tokenizer that knows only the five special tokens.
"""

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Protocol, TypedDict

from absl import logging

from files.json_files import JsonObject
from files.paths import StrPath
from model_folders.training_settings import TokenizerIdentity

TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
TOKENIZER_FILE = "tokenizer.json"
SPECIAL_TOKEN_OF_ENTRY = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
# Maximum number of characters in a word, as in Google's code. The default in
# transformers is 100.
_MAX_WORD_LENGTH = 200


class StatedCasing(TypedDict, total=False):
    """The casing that a file states, and the file.

    Attributes:
        do_lower_case: whether text is lower-cased, None if that is unknown.
        file: path of the file.
    """

    do_lower_case: bool | None
    file: StrPath


class TokenizerVocabulary(Protocol):
    """The attributes of `data`'s Vocabulary that this package reads."""

    @property
    def path(self) -> StrPath:
        """Path of vocab.txt, for messages."""

    @property
    def contents(self) -> bytes:
        """Contents of vocab.txt."""

    def check_tokens(self, special_tokens: Iterable[str], /) -> None:
        """Checks that the vocabulary contains all `special_tokens`."""

    def check_size(self, vocab_size: int, /) -> None:
        """Checks that the vocabulary fits a model of `vocab_size` rows."""

    def check_same_tokens(self, other: str, source: str, /) -> None:
        """Checks that the file `other` contains the same WordPieces."""


class Tokenizer(Protocol):
    """The attributes of `data`'s FullTokenizer that this package reads."""

    @property
    def vocabulary(self) -> TokenizerVocabulary:
        """The WordPieces in the order of their ids."""

    @property
    def vocab(self) -> Mapping[str, int]:
        """{WordPiece: id}."""

    @property
    def do_lower_case(self) -> bool:
        """Whether text is lower-cased."""

    @property
    def identity(self) -> TokenizerIdentity:
        """Casing and vocabulary checksum, to compare tokenizers."""


def create_vocab_files(
    tokenizer: Tokenizer, max_seq_length: int
) -> dict[str, bytes]:
    """Returns {file: contents} of vocab.txt and tokenizer_config.json."""
    text = format_tokenizer_config(tokenizer.do_lower_case, max_seq_length)
    contents = tokenizer.vocabulary.contents
    return {"vocab.txt": contents, TOKENIZER_CONFIG_FILE: text}


def format_tokenizer_config(
    do_lower_case: bool, max_seq_length: int | None = None
) -> bytes:
    """Returns the contents of a tokenizer_config.json.

    Args:
        do_lower_case: whether text is lower-cased.
        max_seq_length: maximum length of inputs, in WordPieces, None to state
            none.
    """
    entries: JsonObject = {
        **SPECIAL_TOKEN_OF_ENTRY,
        "do_lower_case": do_lower_case,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "BertTokenizer",
    }
    if max_seq_length is not None:
        entries["model_max_length"] = max_seq_length
    return (json.dumps(entries, indent=2, sort_keys=True) + "\n").encode()


def create_tokenizer_files(
    tokenizer: Tokenizer, max_seq_length: int, vocab_size: int | None = None
) -> dict[str, bytes]:
    """Returns {file: contents} of the files that transformers reads.

    These are vocab.txt, tokenizer_config.json and tokenizer.json.

    Args:
        tokenizer: tokenizer to describe.
        max_seq_length: maximum length of inputs, in WordPieces.
        vocab_size: size of the model's vocabulary. None skips its
            check.

    Raises:
        ValueError: the vocabulary is larger than `vocab_size`, lacks a special
            token, or is not UTF-8.
    """
    vocabulary = tokenizer.vocabulary
    try:
        text = vocabulary.contents.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{vocabulary.path}: {error}. Save the file as UTF-8"
        ) from error
    if vocab_size is not None:
        vocabulary.check_tokens(SPECIAL_TOKEN_OF_ENTRY.values())
        vocabulary.check_size(vocab_size)
    # Read the lines of vocab.txt, because the entries of `tokenizer.tokens` are
    # stripped of white space.
    ids = {
        line.rstrip("\r"): index for index, line in enumerate(text.split("\n"))
    }
    tokenizer_json = json.dumps(
        _create_tokenizer_json(ids, tokenizer.do_lower_case),
        indent=2,
        ensure_ascii=False,
    )
    return {
        **create_vocab_files(tokenizer, max_seq_length),
        TOKENIZER_FILE: f"{tokenizer_json}\n".encode(),
    }


def _create_tokenizer_json(
    ids: Mapping[str, int], do_lower_case: bool
) -> JsonObject:
    """Returns the entries of a tokenizer.json for {WordPiece: id}."""
    marks = ("single_word", "lstrip", "rstrip", "normalized")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": index, "content": token}
            | dict.fromkeys(marks, False)
            | {"special": True}
            for token, index in ids.items()
            if token in SPECIAL_TOKEN_OF_ENTRY.values()
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": do_lower_case,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "BertProcessing",
            "sep": ["[SEP]", ids["[SEP]"]],
            "cls": ["[CLS]", ids["[CLS]"]],
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": SPECIAL_TOKEN_OF_ENTRY["unk_token"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": _MAX_WORD_LENGTH,
            "vocab": ids,
        },
    }


@functools.cache
def warn_of_tokenizer(message: str) -> None:
    """Logs a warning about a tokenizer's files, once in a process.

    A command may read the same folder several times.
    """
    logging.warning("%s", message)
