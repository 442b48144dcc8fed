"""Reads a tokenizer.json, the file in which transformers saves a tokenizer."""

import os
from collections.abc import Sequence
from typing import Any

from absl import logging

from files.json_files import parse_json, read_json

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


def parse(contents: bytes, path: str) -> tuple[bytes, bool]:
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
        return found.get(name) if isinstance(found, dict) else None

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
            f"{path}: `model.vocab` and `added_tokens` must map the WordPieces "
            "to distinct ids from 0; save the tokenizer again"
        )
    if new := added.keys() - vocab.keys():
        logging.warning(
            "%s adds %d tokens to the vocabulary (%s). Unlike transformers, "
            "this tokenizer splits them like other text",
            *(path, len(new), ", ".join(sorted(new))),
        )
    tokens = dict.fromkeys(range(rows[-1] + 1), "")
    tokens |= {row: token for token, row in ids.items()}
    text = "".join(f"{token}\n" for token in tokens.values())
    return text.encode("utf-8", "ignore"), lowercase


def check_same_words(
    vocab_file: str | os.PathLike[str], tokens: Sequence[str]
) -> None:
    """Checks that the tokenizer.json beside a vocab.txt contains the same ids.

    Does nothing if there is no tokenizer.json.

    Args:
        vocab_file: path of vocab.txt.
        tokens: the WordPieces in `vocab_file` in the order of their ids,
            without white space around them.

    Raises:
        ValueError: the two files contain different WordPieces for the same id.
    """
    path = os.path.join(os.path.dirname(vocab_file), "tokenizer.json")
    if not os.path.isfile(path) or os.path.samefile(path, vocab_file):
        return
    model = read_json(path).get("model")
    vocab = model.get("vocab") if isinstance(model, dict) else None
    for token, row in (vocab if isinstance(vocab, dict) else {}).items():
        is_row = type(row) is int and 0 <= row < len(tokens)
        if is_row and tokens[row] != token.strip():
            raise ValueError(
                f"{path}: the WordPiece with id {row} is {token!r}, but in "
                f"{vocab_file} it is {tokens[row]!r}. Delete the file that the "
                "model was not trained with"
            )
