"""Reads a tokenizer.json, the one file in which transformers 5 saves a BERT's.

Only a tokenizer that does what BERT's does is read: the project has no other.
"""

from typing import Any, NamedTuple

from files.json_files import parse_json

# Rows that no WordPiece has; more are a damaged file.
_MAX_GAPS = 1 << 16
_EXPECTED = (
    # Files of older versions do not name the type.
    ("model", "type", (None, "WordPiece")),
    ("model", "continuing_subword_prefix", ("##",)),
    ("model", "unk_token", ("[UNK]",)),
    ("pre_tokenizer", "type", ("BertPreTokenizer",)),
    ("normalizer", "type", ("BertNormalizer",)),
    ("normalizer", "clean_text", (True,)),
    ("normalizer", "handle_chinese_chars", (True,)),
    ("normalizer", "lowercase", (True, False)),
)


class TokenizerJson(NamedTuple):
    """What a tokenizer.json says.

    Attributes:
        vocab_bytes: contents of the vocab.txt with the same rows.
        do_lower_case: whether to lower-case the text and strip accents.
        added: WordPieces that transformers finds in the text before it splits
            it into words.
    """

    vocab_bytes: bytes
    do_lower_case: bool
    added: list[str]


def parse(
    contents: bytes, path: str, do_lower_case: bool | None
) -> TokenizerJson:
    """Parses the contents of a tokenizer.json.

    Raises:
        ValueError: it is not JSON, or not a tokenizer as BERT's, or it does
            not lower-case as wanted; the message names the file.
    """
    values = parse_json(contents, path)
    sections = {
        name: found if isinstance(found := values.get(name), dict) else {}
        for name in ("model", "normalizer", "pre_tokenizer")
    }
    lowercase: Any = sections["normalizer"].get("lowercase")
    # BERT's tokenizer strips accents where it lower-cases.
    accents = ("normalizer", "strip_accents", (None, lowercase))
    for section, name, expected in (*_EXPECTED, accents):
        value = sections[section].get(name)
        if value not in expected:
            raise ValueError(
                f"{path}: this is not BERT's tokenizer: `{section}.{name}` "
                f"must be {expected[-1]!r}. Received: {value!r}"
            )
    if do_lower_case not in (None, lowercase):
        raise ValueError(
            f"{path}: `normalizer.lowercase` is {str(lowercase).lower()}; set "
            f"--do_lower_case={lowercase}"
        )
    vocab: Any = sections["model"].get("vocab")
    ids = _read_ids(vocab, values.get("added_tokens") or [], path)
    tokens = [""] * (1 + max(ids.values()))
    for token, row in ids.items():
        tokens[row] = token
    return TokenizerJson(
        "".join(f"{token}\n" for token in tokens).encode("utf-8", "ignore"),
        lowercase,
        [token for token in ids if token not in vocab],
    )


def _read_ids(vocab: Any, entries: Any, path: str) -> dict[str, int]:
    """Returns the ids of all WordPieces, those of `added_tokens` included."""
    try:
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
            f"{path}: `model.vocab` and `added_tokens` must map each WordPiece "
            "to a row of its own, from 0 on; save the tokenizer again"
        )
    return ids
