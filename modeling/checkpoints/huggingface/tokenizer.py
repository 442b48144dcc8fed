"""Creates the files from which transformers loads a tokenizer.

Without these files, transformers silently creates a tokenizer that knows only
the five special tokens. A `tokenizer` in this module is a FullTokenizer.
"""

import json
from typing import Any

CONFIG_FILE = "tokenizer_config.json"
_SPECIAL_TOKENS = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
# Maximum number of characters in a word, as in Google's code. The default in
# transformers is 100.
_MAX_WORD_LENGTH = 200


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


def tokenizer_files(
    tokenizer: Any, max_length: int, vocab_size: int | None = None
) -> dict[str, bytes]:
    """Returns {file: contents} of the four files of a tokenizer.

    `save_huggingface` lists the files.

    Args:
        tokenizer: FullTokenizer to describe.
        max_length: maximum length of inputs, in WordPieces.
        vocab_size: size of the model's vocabulary. None skips `check_vocab`.

    Raises:
        ValueError: the vocabulary is larger than `vocab_size`, lacks a special
            token, or is not UTF-8.
    """
    try:
        text = tokenizer.vocab_bytes.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{tokenizer.vocab_file} is not UTF-8: {error.reason} at byte "
            f"{error.start}. Save the file as UTF-8"
        ) from error
    if vocab_size is not None:
        tokenizer.check_vocab(vocab_size, _SPECIAL_TOKENS.values())
    # Read the lines of vocab.txt, because the entries of `tokenizer.tokens` are
    # stripped of white space.
    ids = {
        line.rstrip("\r"): index for index, line in enumerate(text.split("\n"))
    }
    special = {
        token: ids[token] for token in ids if token in _SPECIAL_TOKENS.values()
    }
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
    special_json = json.dumps(_SPECIAL_TOKENS, indent=2)
    tokenizer_json = json.dumps(values, indent=2, ensure_ascii=False)
    return describe_tokenizer(tokenizer, max_length) | {
        "special_tokens_map.json": f"{special_json}\n".encode(),
        "tokenizer.json": f"{tokenizer_json}\n".encode(),
    }
