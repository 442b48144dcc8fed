"""Reads and writes the files that describe a tokenizer.

Google's releases contain only vocab.txt. transformers adds
tokenizer_config.json, special_tokens_map.json and tokenizer.json. Without these
files it silently creates a tokenizer that knows only the five special tokens.
A `tokenizer` in this module is a FullTokenizer.
"""

import functools
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from absl import logging

from files.json_files import parse_json, read_json
from files.paths import StrPath

CONFIG_FILE, TOKENIZER_FILE = "tokenizer_config.json", "tokenizer.json"
_MAP_FILE, _ADDED_FILE = "special_tokens_map.json", "added_tokens.json"
SPECIAL_TOKENS = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
# For each option of transformers' tokenizers, the values that result in the
# same tokens as Google's tokenizer. Other values are not supported.
_OPTIONS: dict[str, tuple] = {
    "do_lower_case": (None, True, False),
    "tokenize_chinese_chars": (None, True),
    "do_basic_tokenize": (None, True),
    "never_split": (None, []),
    "word_tokenizer_type": (None, "basic"),
    "subword_tokenizer_type": (None, "wordpiece"),
    "cls_token": (None, "[CLS]"),
    "sep_token": (None, "[SEP]"),
    "unk_token": (None, "[UNK]"),
}
# Tokenizer classes of transformers that split text into BERT's WordPieces.
_CLASSES = re.compile(
    "(?:Bert|BertJapanese|DistilBert|Electra|PreTrained)Tokenizer(?:Fast)?"
    "|TokenizersBackend"
)
# Maximum number of characters in a word, as in Google's code. The default in
# transformers is 100.
_MAX_WORD_LENGTH = 200
# Maximum number of unused ids below the largest id. A file with more unused ids
# is damaged.
_MAX_GAPS = 1 << 16
_EXPECTED = {
    "model.type": "WordPiece",
    "model.continuing_subword_prefix": "##",
    "model.unk_token": "[UNK]",
    "pre_tokenizer.type": "BertPreTokenizer",
    "normalizer.type": "BertNormalizer",
    "normalizer.clean_text": True,
    "normalizer.handle_chinese_chars": True,
}
# Keys that may be missing or null. Older files contain no `model.type`. If
# `strip_accents` is null, a tokenizer that lower-cases also strips accents.
_MAY_BE_NULL = ("model.type", "normalizer.strip_accents")


def read_tokenizer(folder: StrPath) -> dict[str, Any]:
    """Reads what transformers' files in a folder state about its tokenizer.

    Logs a warning if the tokenizer keeps other words whole than BERT's five
    special tokens, because a FullTokenizer splits them like other text.

    Returns:
        {"do_lower_case": whether text is lower-cased, "file": path that states
        it}. {} if no file in the folder states it.

    Raises:
        ValueError: the tokenizer would return other tokens than a
            FullTokenizer. The message names the file and the entry.
    """
    names = (CONFIG_FILE, _MAP_FILE, _ADDED_FILE, TOKENIZER_FILE)
    paths = {name: os.path.join(folder, name) for name in names}
    files = {
        name: read_json(path)
        for name, path in paths.items()
        if os.path.isfile(path)
    }
    for name in (CONFIG_FILE, _MAP_FILE):
        _check_options(files.get(name, {}), paths[name])
    words = {*_special_words(files)} - {*SPECIAL_TOKENS.values()}
    if words:
        _warn(
            f"{folder}: transformers does not split the special words "
            f"{', '.join(sorted(words))} of this model, but this program "
            "splits them like other text"
        )
    stated = files.get(CONFIG_FILE, {}).get("do_lower_case"), CONFIG_FILE
    if stated[0] is None:
        section = files.get(TOKENIZER_FILE, {}).get("normalizer")
        is_lower = section.get("lowercase") if _is_object(section) else None
        stated = is_lower, TOKENIZER_FILE
    if not isinstance(stated[0], bool):
        return {}
    return {"do_lower_case": stated[0], "file": paths[stated[1]]}


def _check_options(values: Mapping[str, Any], path: str) -> None:
    """Checks the contents of a tokenizer_config.json."""
    is_lower_case = values.get("do_lower_case") is not False
    # By default, transformers strips accents if it lower-cases.
    allowed = _OPTIONS | {"strip_accents": (None, is_lower_case)}
    for name, expected in allowed.items():
        value = values.get(name)
        if name in SPECIAL_TOKENS:
            value = _text_of(value)
        # Compare JSON texts, because 1 is equal to True in Python.
        if json.dumps(value) not in map(json.dumps, expected):
            raise ValueError(
                f"{path}: `{name}` is {json.dumps(value)}, but this program "
                "tokenizes only as Google's BERT does, so the model would "
                "receive other tokens than in its training. Use another model"
            )
    kind = values.get("tokenizer_class")
    if kind and not _CLASSES.fullmatch(str(kind)):
        _warn(
            f"{path}: `tokenizer_class` is {json.dumps(kind)}, but this "
            "program tokenizes as BertTokenizer does. If that class returns "
            "other tokens, the model's answers will be wrong"
        )


def _special_words(files: Mapping[str, Any]) -> Iterator[str]:
    """Yields the words that the files of a tokenizer declare to be special.

    `files` is {name of the file: its contents}.
    """
    yield from files.get(_ADDED_FILE, {})
    for name in (CONFIG_FILE, _MAP_FILE):
        values = files.get(name, {})
        for key in ("additional_special_tokens", "extra_special_tokens"):
            words = values.get(key) or ()
            yield from map(_text_of, _values_of(words))
        words = _values_of(values.get("added_tokens_decoder") or ())
        yield from map(_text_of, words)
    words = files.get(TOKENIZER_FILE, {}).get("added_tokens") or ()
    yield from map(_text_of, _values_of(words))


def _values_of(words: Any) -> Any:
    return words.values() if _is_object(words) else words


def _text_of(token: Any) -> Any:
    # In these files, a token is a string, or an object with the key `content`.
    return token.get("content") if _is_object(token) else token


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


@functools.cache
def _warn(message: str) -> None:
    # A command may read a folder several times.
    logging.warning("%s", message)


def parse_tokenizer(contents: bytes, path: str) -> tuple[bytes, bool]:
    """Parses the contents of a tokenizer.json.

    Returns:
        (contents of an equivalent vocab.txt, True if the tokenizer lower-cases
        text).

    Raises:
        ValueError: the file is not JSON, or its tokenizer is not BERT's. The
            message names the file.
    """
    values = parse_json(contents, path)

    def find(name: str) -> Any:
        section, name = name.split(".")
        found = values.get(section)
        return found.get(name) if _is_object(found) else None

    lowercase = find("normalizer.lowercase")
    for name, expected in {
        **_EXPECTED,
        "normalizer.lowercase": bool(lowercase),
        "normalizer.strip_accents": lowercase,
    }.items():
        value = find(name)
        if value != expected and (
            value is not None or name not in _MAY_BE_NULL
        ):
            raise ValueError(
                f"{path}: this is not BERT's tokenizer. `{name}` must be "
                f"{expected!r}. Received: {value!r}"
            )
    vocab = find("model.vocab")
    try:
        entries = values.get("added_tokens") or []
        added = {entry["content"]: entry["id"] for entry in entries}
        ids = {**vocab, **added}
        rows = sorted(ids.values())
        is_right = (
            all(type(row) is int for row in rows)
            and len(rows) == len({*rows}) > 0 <= rows[0]
            and rows[-1] < len(rows) + _MAX_GAPS
            and vocab.items() <= ids.items()
            and "\n" not in "".join(ids)
        )
    except (KeyError, TypeError):
        is_right = False
    if not is_right:
        raise ValueError(
            f"{path}: `model.vocab` and `added_tokens` must agree, and map the "
            "WordPieces to distinct ids; save the tokenizer again"
        )
    tokens = dict.fromkeys(range(rows[-1] + 1), "")
    tokens |= {row: token for token, row in ids.items()}
    text = "".join(f"{token}\n" for token in tokens.values())
    return text.encode("utf-8", "ignore"), lowercase


def describe_tokenizer(tokenizer: Any, max_length: int) -> dict[str, bytes]:
    """Returns {file: contents} of vocab.txt and tokenizer_config.json."""
    text = format_casing(tokenizer.do_lower_case, model_max_length=max_length)
    return {"vocab.txt": tokenizer.vocab_bytes, CONFIG_FILE: text}


def format_casing(do_lower_case: bool, **more: Any) -> bytes:
    """Returns the contents of a tokenizer_config.json.

    Args:
        do_lower_case: whether text is lower-cased.
        **more: additional entries.
    """
    settings = {
        **SPECIAL_TOKENS,
        **more,
        "do_lower_case": do_lower_case,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "BertTokenizer",
    }
    return (json.dumps(settings, indent=2, sort_keys=True) + "\n").encode()


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
        tokenizer.check_vocab(vocab_size, SPECIAL_TOKENS.values())
    # Read the lines of vocab.txt, because the entries of `tokenizer.tokens` are
    # stripped of white space.
    ids = {
        line.rstrip("\r"): index for index, line in enumerate(text.split("\n"))
    }
    special = {
        token: ids[token] for token in ids if token in SPECIAL_TOKENS.values()
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
            "unk_token": SPECIAL_TOKENS["unk_token"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": _MAX_WORD_LENGTH,
            "vocab": ids,
        },
    }
    special_json = json.dumps(SPECIAL_TOKENS, indent=2)
    tokenizer_json = json.dumps(values, indent=2, ensure_ascii=False)
    return describe_tokenizer(tokenizer, max_length) | {
        "special_tokens_map.json": f"{special_json}\n".encode(),
        "tokenizer.json": f"{tokenizer_json}\n".encode(),
    }
