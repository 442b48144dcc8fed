"""Reads how the tokenizer files of transformers say that text is cased.

KerasHub also writes a tokenizer.json, which this module recognizes.
"""

import json
import os
import re
from typing import NamedTuple

from files.json_files import JsonObject, read_entry, read_json
from files.paths import StrPath
from model_folders.formats import kerashub_config
from model_folders.tokenizer_files import (
    SPECIAL_TOKEN_OF_ENTRY,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    StatedCasing,
    warn_of_tokenizer,
)

# Files of transformers before version 5.
_MAP_FILE = "special_tokens_map.json"
_ADDED_FILE = "added_tokens.json"
# For each option of transformers' tokenizers, the values that result in the
# same tokens as Google's tokenizer. Other values are not supported.
_ALLOWED_VALUES_OF_OPTION: dict[str, tuple[object, ...]] = {
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
_TOKENIZER_CLASS = re.compile(
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


class _JsonFile(NamedTuple):
    """A file of a folder.

    Attributes:
        path: path of the file.
        values: the JSON object in it, {} if there is no such file.
    """

    path: str
    values: JsonObject


def read_stated_casing(folder: StrPath) -> StatedCasing:
    """Reads the casing of a tokenizer in the files of transformers.

    Logs a warning if there are other words than BERT's five special tokens that
    the tokenizer does not split, because a FullTokenizer splits such words like
    other text. Also logs a warning if two files state different casings.

    Returns:
        {"do_lower_case": whether text is lower-cased, "file": path of the file
        that states this}. {} if no file in the folder states the casing.

    Raises:
        ValueError: the tokenizer would return other tokens than a
            FullTokenizer. The message names the file and the entry.
    """
    tokenizer_config = _read_json_file(folder, TOKENIZER_CONFIG_FILE)
    special_tokens = _read_json_file(folder, _MAP_FILE)
    tokenizer = _read_json_file(folder, TOKENIZER_FILE)
    added_tokens = _read_json_file(folder, _ADDED_FILE)
    if kerashub_config.is_kerashub(tokenizer.values):
        return kerashub_config.parse_casing(tokenizer.values, tokenizer.path)
    _check_options(tokenizer_config)
    _check_options(special_tokens)
    _warn_of_special_words(
        folder,
        _list_special_words(tokenizer_config)
        | _list_special_words(special_tokens)
        | _list_special_words(tokenizer)
        | added_tokens.values.keys(),
    )
    normalizer = read_entry(
        tokenizer.values, "normalizer", dict, tokenizer.path
    )
    return _choose_casing(
        _create_stated_casing(
            tokenizer_config.values.get("do_lower_case"), tokenizer_config.path
        ),
        _create_stated_casing(normalizer.get("lowercase"), tokenizer.path),
    )


def _read_json_file(folder: StrPath, name: str) -> _JsonFile:
    path = os.path.join(folder, name)
    return _JsonFile(path, read_json(path) if os.path.isfile(path) else {})


def _create_stated_casing(is_lower_case: object, path: str) -> StatedCasing:
    if not isinstance(is_lower_case, bool):
        return {}
    return {"do_lower_case": is_lower_case, "file": path}


def _choose_casing(
    config_casing: StatedCasing, tokenizer_casing: StatedCasing
) -> StatedCasing:
    """Returns the casing that transformers uses, {} if no file states one.

    Logs a warning if the files state different casings.

    Args:
        config_casing: what tokenizer_config.json states. transformers reads it
            first.
        tokenizer_casing: what tokenizer.json states.
    """
    if not (config_casing and tokenizer_casing):
        return config_casing or tokenizer_casing
    if config_casing["do_lower_case"] != tokenizer_casing["do_lower_case"]:
        warn_of_tokenizer(
            f"{config_casing['file']} sets lower-casing to "
            f"{config_casing['do_lower_case']}, but "
            f"{tokenizer_casing['file']} to "
            f"{tokenizer_casing['do_lower_case']}. This program uses the first "
            "file, as transformers does"
        )
    return config_casing


def _warn_of_special_words(folder: StrPath, words: set[str]) -> None:
    more_words = words - {*SPECIAL_TOKEN_OF_ENTRY.values()}
    if more_words:
        warn_of_tokenizer(
            f"{folder}: transformers does not split the special words "
            f"{', '.join(sorted(more_words))} of this model, but this program "
            "splits them like other text"
        )


def _check_options(file: _JsonFile) -> None:
    """Raises a ValueError if an option changes the tokens.

    Logs a warning if the class of the tokenizer is unknown.
    """
    is_lower_case = file.values.get("do_lower_case") is not False
    # By default, transformers strips accents if it lower-cases.
    allowed = _ALLOWED_VALUES_OF_OPTION | {
        "strip_accents": (None, is_lower_case)
    }
    for name, valid_values in allowed.items():
        value = file.values.get(name)
        if name in SPECIAL_TOKEN_OF_ENTRY and isinstance(value, dict):
            value = value.get("content")
        # Compare JSON texts, because 1 is equal to True in Python.
        if json.dumps(value) not in map(json.dumps, valid_values):
            raise ValueError(
                f"{file.path}: `{name}` is {json.dumps(value)}, but this "
                "program tokenizes only as Google's BERT does. Use another "
                "model"
            )
    tokenizer_class = file.values.get("tokenizer_class")
    if tokenizer_class and not _TOKENIZER_CLASS.fullmatch(str(tokenizer_class)):
        warn_of_tokenizer(
            f"{file.path}: `tokenizer_class` is {json.dumps(tokenizer_class)}. "
            "If it differs from BertTokenizer, the model's answers will be "
            "wrong"
        )


def _list_special_words(file: _JsonFile) -> set[str]:
    """Returns the words that a file lists under any of _SPECIAL_KEYS.

    Raises:
        ValueError: an entry is no list of words.
    """
    words: set[str] = set()
    for key in _SPECIAL_KEYS:
        entries = file.values.get(key) or []
        # A list, or a dict {id or name: token}.
        tokens = [*entries.values()] if isinstance(entries, dict) else entries
        if not isinstance(tokens, list):
            tokens = [None]
        contents = [
            token.get("content") if isinstance(token, dict) else token
            for token in tokens
        ]
        listed = [word for word in contents if isinstance(word, str)]
        if len(listed) < len(contents):
            raise ValueError(
                f"{file.path}: `{key}` must list words, as transformers writes "
                f"them. Received: {entries!r:.80}"
            )
        words.update(listed)
    return words
