"""Reads the vocabulary in a tokenizer.json, which transformers writes."""

import contextlib
from typing import Any

from files.json_files import JsonObject, parse_json
from model_folders.formats import kerashub_config

# More rows than the vocabulary of any BERT has. Unused ids become empty lines,
# so one large id in a small file would fill the memory.
_MAX_TOKENS = 2**22
# The values of a tokenizer.json of BERT.
_EXPECTED_VALUE_OF_ENTRY = {
    "model.continuing_subword_prefix": "##",
    "model.unk_token": "[UNK]",
    "pre_tokenizer.type": "BertPreTokenizer",
    "normalizer.type": "BertNormalizer",
    "normalizer.clean_text": True,
    "normalizer.handle_chinese_chars": True,
}


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
    if kerashub_config.is_kerashub(values):
        raise ValueError(
            f"{path} contains no vocabulary. Set the preset's file "
            f"{kerashub_config.VOCAB_FILE}"
        )
    lower_case = _entry_of(values, "normalizer.lowercase")
    _check_tokenizer(values, lower_case, path)
    vocab, added_tokens = _parse_ids(values, path)
    ids = vocab | added_tokens
    tokens = {row: token for token, row in ids.items()}
    is_consistent = vocab.items() <= ids.items() and len(tokens) == len(ids) > 0
    if not is_consistent or "\n" in "".join(ids):
        raise ValueError(
            f"{path}: `model.vocab` and `added_tokens` must agree, and map the "
            "WordPieces to distinct ids; save the tokenizer again"
        )
    if max(tokens) >= _MAX_TOKENS:
        raise ValueError(
            f"{path}: the id of {tokens[max(tokens)]!r:.80} is {max(tokens)}, "
            f"but {len(tokens)} WordPieces need no id above {_MAX_TOKENS - 1}; "
            "save the tokenizer again"
        )
    lines = [f"{tokens.get(row, '')}\n" for row in range(max(tokens) + 1)]
    return "".join(lines).encode("utf-8", "ignore"), lower_case


def _entry_of(values: JsonObject, name: str, default: object = None) -> Any:  # noqa: ANN401  JSON of any type
    """Returns the entry SECTION.KEY of a tokenizer.json.

    Returns the default if the entry is missing or null, or if SECTION is no
    object.
    """
    section, key = name.split(".")
    group = values.get(section)
    value = group.get(key) if isinstance(group, dict) else None
    return default if value is None else value


def _check_tokenizer(values: JsonObject, lower_case: object, path: str) -> None:
    """Raises a ValueError if a tokenizer.json is not of a BERT.

    `lower_case` is the entry `normalizer.lowercase` of the file.
    """
    checks = {
        name: (_entry_of(values, name), expected)
        for name, expected in _EXPECTED_VALUE_OF_ENTRY.items()
    }
    # Older files contain no type.
    model_type = _entry_of(values, "model.type", "WordPiece")
    checks["model.type"] = (model_type, "WordPiece")
    checks["normalizer.lowercase"] = (lower_case, bool(lower_case))
    # By default, a tokenizer that lower-cases also strips accents.
    strip_accents = _entry_of(values, "normalizer.strip_accents", lower_case)
    checks["normalizer.strip_accents"] = (strip_accents, lower_case)
    for name, (value, expected) in checks.items():
        if value != expected:
            raise ValueError(
                f"{path}: this is not BERT's tokenizer. `{name}` must be "
                f"{expected!r}. Received: {value!r}"
            )


def _parse_ids(
    values: JsonObject, path: str
) -> tuple[dict[str, int], dict[str, int]]:
    """Returns {token: id} of `model.vocab`, and the same of `added_tokens`."""
    added_ids = None
    # Any, because `suppress` tells whether it is a list of tokens.
    added_tokens: Any = values.get("added_tokens") or []
    with contextlib.suppress(KeyError, TypeError):
        added_ids = {token["content"]: token["id"] for token in added_tokens}
    ids = _entry_of(values, "model.vocab") or {}
    return (
        _parse_token_ids(ids, "model.vocab", path),
        _parse_token_ids(added_ids, "added_tokens", path),
    )


def _parse_token_ids(ids: object, name: str, path: str) -> dict[str, int]:
    """Returns `ids`, or raises a ValueError if it is not {token: id}."""
    if not isinstance(ids, dict) or not all(
        isinstance(token, str) and type(row) is int and row >= 0
        for token, row in ids.items()
    ):
        raise ValueError(
            f"{path}: `{name}` must list tokens and their ids, as "
            "transformers does; save the tokenizer again"
        )
    return ids
