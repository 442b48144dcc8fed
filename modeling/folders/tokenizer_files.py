"""Reads and writes the files that describe a tokenizer.

Google's releases contain only vocab.txt. transformers adds
tokenizer_config.json and tokenizer.json. Without these files it silently
creates a tokenizer that knows only the five special tokens.
"""

import functools
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from absl import logging

from files.json_files import JsonObject, parse_json, read_entry, read_json
from files.paths import StrPath
from modeling.folders import kerashub_files
from modeling.folders.model_entries import StatedCasing, TokenizerIdentity

CONFIG_FILE = "tokenizer_config.json"
TOKENIZER_FILE = "tokenizer.json"
# More rows than the vocabulary of any BERT has. Unused ids become empty lines,
# so one large id in a small file would fill the memory.
_MOST_ROWS = 2**22
# Files of transformers before version 5.
_MAP_FILE = "special_tokens_map.json"
_ADDED_FILE = "added_tokens.json"
SPECIAL_TOKENS = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
# For each option of transformers' tokenizers, the values that result in the
# same tokens as Google's tokenizer. Other values are not supported.
_OPTIONS: dict[str, tuple[object, ...]] = {
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
# Entries that list special words.
_SPECIAL_KEYS = (
    "additional_special_tokens",
    "extra_special_tokens",
    "added_tokens",
    "added_tokens_decoder",
)
# Maximum number of characters in a word, as in Google's code. The default in
# transformers is 100.
_MAX_WORD_LENGTH = 200
# The values of a tokenizer.json of BERT.
_EXPECTED = {
    "model.continuing_subword_prefix": "##",
    "model.unk_token": "[UNK]",
    "pre_tokenizer.type": "BertPreTokenizer",
    "normalizer.type": "BertNormalizer",
    "normalizer.clean_text": True,
    "normalizer.handle_chinese_chars": True,
}


class Tokenizer(Protocol):
    """The attributes of `data`'s FullTokenizer that this package reads."""

    @property
    def vocab_file(self) -> StrPath:
        """Path of vocab.txt, for messages."""

    @property
    def vocab_bytes(self) -> bytes:
        """Contents of vocab.txt."""

    @property
    def vocab(self) -> Mapping[str, int]:
        """{WordPiece: id}."""

    @property
    def do_lower_case(self) -> bool:
        """Whether text is lower-cased."""

    @property
    def identity(self) -> TokenizerIdentity:
        """Casing and vocabulary checksum, to compare tokenizers."""

    def check_vocab(
        self, vocab_size: int, special_tokens: Iterable[str], /
    ) -> None:
        """Checks that the vocabulary fits a model of `vocab_size` rows."""

    def check_same_words(self, other: str, source: str, /) -> None:
        """Checks that the file `other` contains the same WordPieces."""


def read_tokenizer(folder: StrPath) -> StatedCasing:
    """Reads what transformers' files in a folder state about its tokenizer.

    Logs a warning if the tokenizer keeps other words whole than BERT's five
    special tokens, because a FullTokenizer splits them like other text. Logs
    one too if two files state different casings.

    Returns:
        {"do_lower_case": whether text is lower-cased, "file": path that states
        it}. {} if no file in the folder states it.

    Raises:
        ValueError: the tokenizer would return other tokens than a
            FullTokenizer. The message names the file and the entry.
    """
    names = (CONFIG_FILE, _MAP_FILE, TOKENIZER_FILE, _ADDED_FILE)
    paths = [os.path.join(folder, name) for name in names]
    files = [read_json(x) if os.path.isfile(x) else {} for x in paths]
    if kerashub_files.is_kerashub(files[2]):
        return kerashub_files.read_casing(files[2], paths[2])
    for path, values in zip(paths[:2], files, strict=False):
        _check_options(values, path)
    words = {*files.pop()}.union(*map(_special_words, files, paths))
    if words := words - {*SPECIAL_TOKENS.values()}:
        _warn(
            f"{folder}: transformers does not split the special words "
            f"{', '.join(sorted(words))} of this model, but this program "
            "splits them like other text"
        )
    normalizer = read_entry(files[2], "normalizer", dict, paths[2])
    stated = files[0].get("do_lower_case"), normalizer.get("lowercase")
    casings: list[StatedCasing] = [
        {"do_lower_case": is_lower_case, "file": path}
        for is_lower_case, path in zip(stated, paths[::2], strict=True)
        if isinstance(is_lower_case, bool)
    ]
    if len(casings) == 2 and stated[0] != stated[1]:
        # transformers reads tokenizer_config.json first.
        _warn(
            f"{paths[0]} sets lower-casing to {stated[0]}, but {paths[2]} to "
            f"{stated[1]}. This program uses the first file, as transformers "
            "does"
        )
    return casings[0] if casings else {}


def _check_options(values: JsonObject, path: str) -> None:
    is_lower_case = values.get("do_lower_case") is not False
    # By default, transformers strips accents if it lower-cases.
    allowed = _OPTIONS | {"strip_accents": (None, is_lower_case)}
    for name, expected in allowed.items():
        value = values.get(name)
        if name in SPECIAL_TOKENS and isinstance(value, dict):
            value = value.get("content")
        # Compare JSON texts, because 1 is equal to True in Python.
        if json.dumps(value) not in map(json.dumps, expected):
            raise ValueError(
                f"{path}: `{name}` is {json.dumps(value)}, but this program "
                "tokenizes only as Google's BERT does. Use another model"
            )
    kind = values.get("tokenizer_class")
    if kind and not _CLASSES.fullmatch(str(kind)):
        _warn(
            f"{path}: `tokenizer_class` is {json.dumps(kind)}. If it differs "
            "from BertTokenizer, the model's answers will be wrong"
        )


def _special_words(values: JsonObject, path: str) -> set[str]:
    words: set[str] = set()
    for key in _SPECIAL_KEYS:
        entries = values.get(key) or ()
        # A list, or a dict {id or name: token}.
        tokens = entries.values() if isinstance(entries, dict) else entries
        is_valid = isinstance(entries, dict | list | tuple)
        listed: list[Any] = [
            token.get("content") if isinstance(token, dict) else token
            for token in (tokens if is_valid else [None])
        ]
        if not all(isinstance(word, str) for word in listed):
            raise ValueError(
                f"{path}: `{key}` must list words, as transformers writes "
                f"them. Received: {entries!r:.80}"
            )
        words.update(listed)
    return words


@functools.cache
def _warn(message: str) -> None:
    """Logs a warning once, even if a command reads a folder several times."""
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
    if kerashub_files.is_kerashub(values):
        raise ValueError(
            f"{path} contains no vocabulary. Set the preset's file "
            f"{kerashub_files.VOCAB_FILE}"
        )

    def find(name: str, default: object = None) -> Any:  # noqa: ANN401  of JSON
        section, key = name.split(".")
        group = values.get(section)
        value = group.get(key) if isinstance(group, dict) else None
        return default if value is None else value

    lower_case = find("normalizer.lowercase")
    checks = {name: (find(name), _EXPECTED[name]) for name in _EXPECTED}
    # Older files contain no type.
    checks["model.type"] = find("model.type", "WordPiece"), "WordPiece"
    checks["normalizer.lowercase"] = lower_case, bool(lower_case)
    # By default, a tokenizer that lower-cases also strips accents.
    name = "normalizer.strip_accents"
    checks[name] = find(name, lower_case), lower_case
    for name, (value, expected) in checks.items():
        if value != expected:
            raise ValueError(
                f"{path}: this is not BERT's tokenizer. `{name}` must be "
                f"{expected!r}. Received: {value!r}"
            )
    vocab, added = _read_ids(values, path)
    ids = vocab | added
    tokens = {row: token for token, row in ids.items()}
    agree = vocab.items() <= ids.items() and len(tokens) == len(ids) > 0
    if not agree or "\n" in "".join(ids):
        raise ValueError(
            f"{path}: `model.vocab` and `added_tokens` must agree, and map the "
            "WordPieces to distinct ids; save the tokenizer again"
        )
    if max(tokens) >= _MOST_ROWS:
        raise ValueError(
            f"{path}: the id of {tokens[max(tokens)]!r:.80} is {max(tokens)}, "
            f"but {len(tokens)} WordPieces need no id above {_MOST_ROWS - 1}; "
            "save the tokenizer again"
        )
    lines = [f"{tokens.get(row, '')}\n" for row in range(max(tokens) + 1)]
    return "".join(lines).encode("utf-8", "ignore"), lower_case


def _read_ids(values: JsonObject, path: str) -> list[dict[str, int]]:
    # Returns {token: id} of `model.vocab` and of `added_tokens`, which may have
    # any type.
    added = values.get("added_tokens") or []
    groups = {"model.vocab": values["model"].get("vocab") or {}}
    try:
        groups["added_tokens"] = {x["content"]: x["id"] for x in added}
    except (KeyError, TypeError):
        groups["added_tokens"] = None
    for name, ids in groups.items():
        if not isinstance(ids, dict) or not all(
            isinstance(token, str) and type(row) is int and row >= 0
            for token, row in ids.items()
        ):
            raise ValueError(
                f"{path}: `{name}` must list tokens and their ids, as "
                "transformers does; save the tokenizer again"
            )
    return [*groups.values()]


def describe_tokenizer(
    tokenizer: Tokenizer, max_length: int
) -> dict[str, bytes]:
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
    tokenizer: Tokenizer, max_length: int, vocab_size: int | None = None
) -> dict[str, bytes]:
    """Returns {file: contents} of the files that transformers reads.

    These are vocab.txt, tokenizer_config.json and tokenizer.json.

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
            f"{tokenizer.vocab_file}: {error}. Save the file as UTF-8"
        ) from error
    if vocab_size is not None:
        tokenizer.check_vocab(vocab_size, SPECIAL_TOKENS.values())
    # Read the lines of vocab.txt, because the entries of `tokenizer.tokens` are
    # stripped of white space.
    ids = {
        line.rstrip("\r"): index for index, line in enumerate(text.split("\n"))
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
            for token, index in ids.items()
            if token in SPECIAL_TOKENS.values()
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
    tokenizer_json = json.dumps(values, indent=2, ensure_ascii=False)
    return {
        **describe_tokenizer(tokenizer, max_length),
        TOKENIZER_FILE: f"{tokenizer_json}\n".encode(),
    }
