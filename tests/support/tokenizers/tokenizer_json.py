"""Writes a tokenizer.json in the format that transformers 5 saves.

For example:

    write_tokenizer_json(path, [("model", "unk_token", "[X]")])
"""

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "é", "un", "##able"]
SAVED: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [
        {"id": row, "content": token, "special": True, "normalized": False}
        for row, token in enumerate(TOKENS[:5])
    ],
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing"},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {token: row for row, token in enumerate(TOKENS)},
    },
}


def write_tokenizer_json(
    path: Path, changes: Iterable[tuple[str | None, str, object]] = ()
) -> Path:
    """Writes SAVED with changes: (section or None, name, value) each."""
    saved = copy.deepcopy(SAVED)
    for section, name, value in changes:
        (saved[section] if section else saved)[name] = value
    path.write_text(json.dumps(saved, ensure_ascii=False), "utf-8")
    return path
