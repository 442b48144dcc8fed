"""Determines if a model expects lower-cased text, and reads tokenizer.json.

The casing is found in a tokenizer_config.json beside the weights or the
vocabulary, in a tokenizer.json (where transformers saves a tokenizer), in the
name of a Google release, or in the words of the vocabulary. It is an error if a
file or name contradicts --do_lower_case, or if the user did not set this flag
and the vocabulary is cased.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from absl import logging

from files.json_files import parse_json, read_json

_CONFIG_FILE, _TOKENIZER_FILE = "tokenizer_config.json", "tokenizer.json"
# For each option of transformers' tokenizers, the values that result in the
# same tokens as this project's tokenizer. Other values are not supported.
_CUTS = {
    "tokenize_chinese_chars": (None, True),
    "do_basic_tokenize": (None, True),
    "never_split": (None, []),
    "word_tokenizer_type": (None, "basic"),
    "subword_tokenizer_type": (None, "wordpiece"),
}
# Tokenizer classes of transformers that return the same tokens as
# BertTokenizer. PreTrainedTokenizerFast and TokenizersBackend read a
# tokenizer.json, or else a vocab.txt in the same way as BertTokenizer.
_CLASSES = re.compile(
    r"(?:Bert|BertJapanese|ConvBert|DistilBert|DPR\w+|Electra|Ernie|LayoutLM"
    "|Lxmert|MobileBert|PreTrained|Realm|RetriBert|Splinter|SqueezeBert)"
    "Tokenizer(?:Fast)?|TokenizersBackend"
)
# Tokenizer classes of transformers whose tokens differ from BertTokenizer's.
_OTHER_CLASSES = re.compile(
    "(?:Albert|Bart|BertGeneration|Bertweet|BigBird|Camembert|Deberta|DebertaV2"
    "|Funnel|GPT2|Herbert|Llama|MPNet|Phobert|RemBert|RoFormer|Roberta|T5"
    "|XLMRoberta|XLNet)Tokenizer(?:Fast)?"
)
_SPECIAL_TOKENS = {
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
# {folder name of one of Google's releases: True if the model is uncased}.
_RELEASES = {
    "uncased_L-24_H-1024_A-16": True,
    "uncased_L-12_H-768_A-12": True,
    "multilingual_L-12_H-768_A-12": True,
    "chinese_L-12_H-768_A-12": True,
    "cased_L-12_H-768_A-12": False,
    "cased_L-24_H-1024_A-16": False,
    "multi_cased_L-12_H-768_A-12": False,
}
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
# Limits of the fraction of words that contain a capital letter (A to Z): a
# vocabulary is cased above the first limit, and lower-cased below the second.
# In Google's cased vocabularies it is 29% and 16%, in the others nearly 0.
_CASED_SHARE, _UNCASED_SHARE = 0.05, 0.001
# If fewer words contain a letter a to z, the vocabulary is too small to judge.
_FEWEST_WORDS = 5000


def find_casing(
    options: Any, tokens: Sequence[str], stated: bool | None = None
) -> bool:
    """Determines whether to lower-case the text.

    Args:
        options: options of the command, with the attributes `vocab_file`,
            `do_lower_case`, `given_flags` (the flags that the user set) and, if
            the command loads a model, `weights`.
        tokens: the vocabulary's WordPieces.
        stated: whether `vocab_file` is a tokenizer.json that lower-cases text.
            None if it is not a tokenizer.json.

    Raises:
        ValueError: --do_lower_case contradicts a file or a release's name, or
            it is not set and the vocabulary is cased. Or the vocabulary does
            not consist of WordPieces.
    """
    # SentencePiece marks the beginning of a word with U+2581, and GPT-2 a space
    # with U+0120. With such a vocabulary, every word would become [UNK].
    num_foreign = sum(token[:1] in ("\u2581", "\u0120") for token in tokens)
    if num_foreign > len(tokens) // 20:
        raise ValueError(
            f"{options.vocab_file}: {num_foreign} words begin with \u2581 or "
            "\u0120, so this is the vocabulary of a different kind of "
            "tokenizer (SentencePiece or GPT-2). Use a vocabulary of WordPieces"
        )
    flag = options.do_lower_case
    is_given = not flag or "do_lower_case" in options.given_flags
    checkpoint = getattr(options, "weights", None)
    settings = [*_settings(options.vocab_file, checkpoint)]
    if stated is not None:
        settings.append((str(options.vocab_file), stated))
    for path, is_lower_case in settings:
        if not is_given:
            flag, is_given = is_lower_case, True
        elif flag != is_lower_case:
            raise ValueError(
                f"--do_lower_case={flag} contradicts {path}, which sets "
                f"lower-casing to {str(is_lower_case).lower()}; remove the "
                "flag, or correct the file"
            )
    validate_case_matches_checkpoint(flag, checkpoint)
    if not is_given and casing_of(tokens) is False:
        raise ValueError(
            f"{options.vocab_file} contains many words with capitals, so it "
            "belongs to a cased model; pass --do_lower_case=False, or "
            "--do_lower_case=True if the model reads lower-cased text"
        )
    return flag


def is_stated(options: Any, tokens: Sequence[str]) -> bool:
    """Returns whether a flag, a file or the vocabulary determines the casing.

    Otherwise, `find_casing`, which has the same arguments, only assumes that
    text is lower-cased.
    """
    return bool(
        not options.do_lower_case
        or "do_lower_case" in options.given_flags
        or [*_settings(options.vocab_file, options.weights)]
        or casing_of(tokens) is not None
    )


def casing_of(tokens: Sequence[str]) -> bool | None:
    """Returns whether a vocabulary's words are lower-cased, or None if unclear.

    Ignores special tokens such as [CLS], [unused5] and the Chinese vocabulary's
    <S>.
    """
    special = re.compile(r"\[.*\]|<.*>")
    words = [token for token in tokens if not special.fullmatch(token)]
    num_cased = sum(bool(re.search("[A-Z]", word)) for word in words)
    if num_cased > _CASED_SHARE * len(words):
        return False
    num_lower = sum(bool(re.search("[a-z]", word)) for word in words)
    if num_cased < _UNCASED_SHARE * len(words) and num_lower >= _FEWEST_WORDS:
        return True
    return None


def _settings(
    vocab_file: str | os.PathLike[str], checkpoint: str | None
) -> Iterator[tuple[str, bool]]:
    """Yields (path, do_lower_case) of each file that defines the casing.

    Searches the folders of the vocabulary and of the checkpoint.
    """
    places = [os.path.dirname(vocab_file)]
    if checkpoint:
        is_folder = os.path.isdir(checkpoint)
        places.append(checkpoint if is_folder else os.path.dirname(checkpoint))
    for place in dict.fromkeys(map(os.path.normpath, places)):
        file, is_lower_case = _CONFIG_FILE, read_do_lower_case(place)
        # FullTokenizer already read the casing of a vocabulary in this format.
        if is_lower_case is None and (
            os.path.basename(vocab_file) != _TOKENIZER_FILE
        ):
            file, is_lower_case = _TOKENIZER_FILE, read_normalizer(place)
        if is_lower_case is not None:
            yield os.path.join(place, file), is_lower_case


def read_do_lower_case(folder: str | os.PathLike[str]) -> bool | None:
    """Reads `do_lower_case` from a folder's tokenizer_config.json.

    Returns:
        whether text is lower-cased. None if the file does not exist, or does
        not contain this setting.

    Raises:
        ValueError: the value is neither true nor false. Or an option in this
            file or in the special_tokens_map.json beside it has a value that
            this project does not support.
    """
    _check_special_tokens(os.path.join(folder, "special_tokens_map.json"))
    path = os.path.join(folder, _CONFIG_FILE)
    _check_special_tokens(path)
    if not os.path.isfile(path):
        return None
    settings = read_json(path)
    value = settings.get("do_lower_case")
    if value is not None and not isinstance(value, bool):
        raise ValueError(
            f"{path}: `do_lower_case` must be true or false. "
            f"Received: {value!r}"
        )
    kind = settings.get("tokenizer_class")
    if kind and not _CLASSES.fullmatch(str(kind)):
        message = (
            f"{path}: `tokenizer_class` is {json.dumps(kind)}, but this "
            "program tokenizes as BertTokenizer does. Use another model, or "
            "set the entry to BertTokenizer if both return the same tokens"
        )
        if _OTHER_CLASSES.fullmatch(str(kind)):
            raise ValueError(message)
        # Only warn about an unknown class. It may be a user's own class,
        # derived from BertTokenizer.
        logging.warning("%s", message)
    # In transformers, `do_lower_case` is true by default, and `strip_accents`
    # is by default equal to `do_lower_case`.
    accents, is_lower_case = settings.get("strip_accents"), value is not False
    if accents not in (None, is_lower_case):
        raise ValueError(
            f"{path}: `strip_accents` is {str(accents).lower()}, but this "
            f"program strips accents only when it lower-cases, and "
            f"`do_lower_case` is {str(is_lower_case).lower()}, so the model "
            "would receive different tokens from those it was trained on. Use "
            "another model"
        )
    for name, allowed in _CUTS.items():
        if settings.get(name) not in allowed:
            raise ValueError(
                f"{path}: `{name}` is {json.dumps(settings[name])}, but this "
                "program always splits text at punctuation and around "
                "ideographs, then into WordPieces, so the model would receive "
                "different tokens from those it was trained on. Use another "
                "model"
            )
    return value


def _check_special_tokens(path: str) -> None:
    """Checks that a file of transformers names no special tokens but BERT's.

    In these files, a token is a string, or an object with the key `content`.
    """
    settings = read_json(path) if os.path.isfile(path) else {}
    for name, expected in _SPECIAL_TOKENS.items():
        token = settings.get(name)
        token = token.get("content") if isinstance(token, dict) else token
        if token not in (None, expected):
            raise ValueError(
                f"{path}: `{name}` is {json.dumps(token)}, but this program "
                f"always uses {expected}, so the model would receive different "
                "tokens from those it was trained on. Use another model"
            )


def read_normalizer(folder: str | os.PathLike[str]) -> bool | None:
    """Returns whether a folder's tokenizer.json lower-cases text.

    Returns None if the file does not exist, or does not define the casing.
    """
    value = _read_section(folder, "normalizer").get("lowercase")
    return value if isinstance(value, bool) else None


def _read_section(folder: str | os.PathLike[str], name: str) -> dict[str, Any]:
    """Returns a section of a folder's tokenizer.json, {} if it is missing."""
    path = os.path.join(folder, _TOKENIZER_FILE)
    section = read_json(path).get(name) if os.path.isfile(path) else None
    return section if isinstance(section, dict) else {}


def validate_case_matches_checkpoint(
    do_lower_case: bool, init_checkpoint: str | None
) -> None:
    """Checks that --do_lower_case fits a checkpoint of Google's releases.

    Args:
        do_lower_case: whether the text will be lower-cased.
        init_checkpoint: path of a checkpoint, or None if there is none. The
            path of a release is `.../NAME/bert_model.ckpt` or the folder
            `.../NAME`, where NAME is the release's name. Other paths are not
            checked.

    Raises:
        ValueError: the casing contradicts the release's name.
    """
    match = re.match(
        r"^.*?([A-Za-z0-9_-]+)/*(?:/bert_model.ckpt.*)?$", init_checkpoint or ""
    )
    name = match.group(1) if match else ""
    is_lower_case = _RELEASES.get(name, do_lower_case)
    if is_lower_case != do_lower_case:
        raise ValueError(
            f"--do_lower_case={do_lower_case} contradicts "
            f"--init_checkpoint={init_checkpoint}: {name} is a "
            f"{'lowercased' if is_lower_case else 'cased'} model; use "
            f"--do_lower_case={is_lower_case}, or rename the checkpoint's "
            "folder if its name misleads"
        )


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
            f"{path}: `model.vocab` and `added_tokens` must agree, and map the "
            "WordPieces to distinct ids; save the tokenizer again"
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
    """Checks that a tokenizer.json beside a vocab.txt contains the same ids.

    Does nothing if there is no tokenizer.json.

    Args:
        vocab_file: path of vocab.txt.
        tokens: the WordPieces in `vocab_file` in the order of their ids,
            without white space around them.

    Raises:
        ValueError: the two files contain different WordPieces for the same id.
    """
    folder = os.path.dirname(vocab_file)
    path = os.path.join(folder, _TOKENIZER_FILE)
    if not os.path.isfile(path) or os.path.samefile(path, vocab_file):
        return
    vocab = _read_section(folder, "model").get("vocab")
    for token, row in (vocab if isinstance(vocab, dict) else {}).items():
        is_row = type(row) is int and 0 <= row < len(tokens)
        if is_row and tokens[row] != token.strip():
            raise ValueError(
                f"{path}: the WordPiece with id {row} is {token!r}, but in "
                f"{vocab_file} it is {tokens[row]!r}. Delete the file that the "
                "model was not trained with"
            )
