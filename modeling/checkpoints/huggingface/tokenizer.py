"""Writes the files from which transformers creates a model's tokenizer.

Without these files, transformers silently creates a tokenizer of five
WordPieces. A `tokenizer` in this module is a FullTokenizer.
"""

import json
import os
from typing import Any

from files.atomic import write_bytes, write_json, write_text

CONFIG_FILE = "tokenizer_config.json"
_SPECIAL_TOKENS = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
_SPECIAL = frozenset(_SPECIAL_TOKENS.values())
# Maximum number of characters in a word, as in Google's code. The default in
# transformers is 100.
_MAX_WORD_LENGTH = 200


def find_pad_id(tokenizer: Any, vocab_size: int) -> int:
    """Returns the id of [PAD], and checks that a vocabulary fits a model.

    Raises:
        ValueError: the vocabulary is larger than `vocab_size`, lacks a special
            token, or is not UTF-8.
    """
    _all_tokens(tokenizer)
    tokenizer.check_vocab(vocab_size, _SPECIAL_TOKENS.values())
    return tokenizer.vocab["[PAD]"]


def write_tokenizer(
    directory: str | os.PathLike[str],
    tokenizer: Any,
    max_length: int,
) -> None:
    """Writes the four tokenizer files that `save_huggingface` lists.

    `max_length` is the maximum length of inputs, in WordPieces.

    Raises:
        OSError: a file cannot be written.
    """
    for name, contents in describe_tokenizer(tokenizer, max_length).items():
        write_bytes(os.path.join(directory, name), contents)
    write_json(
        os.path.join(directory, "special_tokens_map.json"), _SPECIAL_TOKENS
    )
    write_text(
        os.path.join(directory, "tokenizer.json"), _tokenizer_json(tokenizer)
    )


def describe_tokenizer(tokenizer: Any, max_length: int) -> dict[str, bytes]:
    """Returns {file: contents} of vocab.txt and tokenizer_config.json."""
    settings = {
        **_SPECIAL_TOKENS,
        "do_lower_case": tokenizer.do_lower_case,
        "model_max_length": max_length,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "BertTokenizer",
    }
    text = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    return {"vocab.txt": tokenizer.vocab_bytes, CONFIG_FILE: text.encode()}


def _tokenizer_json(tokenizer: Any) -> str:
    """Returns the text of tokenizer.json, for the library `tokenizers`."""
    ids = {token: index for index, token in enumerate(_all_tokens(tokenizer))}
    special = {token: ids[token] for token in ids if token in _SPECIAL}
    marks = ("single_word", "lstrip", "rstrip", "normalized")
    values = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": index, "content": token}
            | dict.fromkeys(marks, False)
            | {"special": True}
            for token, index in special.items()
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": tokenizer.do_lower_case,
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
            "unk_token": _SPECIAL_TOKENS["unk_token"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": _MAX_WORD_LENGTH,
            "vocab": ids,
        },
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def _all_tokens(tokenizer: Any) -> list[str]:
    """Returns all lines of the vocabulary, including lines of white space."""
    try:
        text = tokenizer.vocab_bytes.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{tokenizer.vocab_file} is not UTF-8: {error.reason} at byte "
            f"{error.start}. Save the file as UTF-8"
        ) from error
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
