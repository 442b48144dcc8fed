"""The files from which transformers makes the model's tokenizer.

Without them, it silently makes a tokenizer of five WordPieces.
"""

import importlib.util
import json
import os
import re
from typing import Any

from files.atomic import copy_file, write_text
from files.json_files import read_json
from files.named_errors import named_errors

CONFIG_FILE = "tokenizer_config.json"
_SPECIAL_TOKENS = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
# The original's; transformers has 100.
_MAX_WORD_LENGTH = 200


def read_do_lower_case(checkpoint: str | os.PathLike[str]) -> bool | None:
    """Returns `do_lower_case` of the tokenizer_config.json next to weights.

    Args:
        checkpoint: prefix of a TF1 checkpoint, or a `.safetensors` file.

    Returns:
        whether text is lower-cased; None if unknown.

    Raises:
        ValueError: the value is neither true nor false.
    """
    path = os.path.join(os.path.dirname(checkpoint), CONFIG_FILE)
    if not os.path.isfile(path):
        return None
    value = read_json(path).get("do_lower_case")
    if value is not None and not isinstance(value, bool):
        raise ValueError(
            f"{path}: `do_lower_case` must be true or false. "
            f"Received: {value!r}"
        )
    return value


def is_lower_case(vocab_file: str | os.PathLike[str]) -> bool:
    """Returns whether a vocabulary has no upper-case letters.

    Special tokens such as [CLS], [unused5] and the Chinese <S> do not count.
    """
    return not any(
        token != token.lower()
        for token in _read_vocab(vocab_file)
        if not re.fullmatch(r"\[.*\]|<.*>", token)
    )


def check_vocab(
    vocab_file: str | os.PathLike[str], vocab_size: int
) -> dict[str, int]:
    """Returns {WordPiece: id} of a vocabulary that fits a model.

    Raises:
        OSError: it cannot be read.
        ValueError: its size is not `vocab_size`, or a special token is missing.
    """
    tokens = _read_vocab(vocab_file)
    ids = {token: index for index, token in enumerate(tokens)}
    missing = [name for name in _SPECIAL_TOKENS.values() if name not in ids]
    if missing:
        raise ValueError(
            f"{vocab_file} has no {', '.join(missing)}; give the vocabulary "
            "that the model was trained with"
        )
    if len(tokens) != vocab_size:
        raise ValueError(
            f"{vocab_file} has {len(tokens)} WordPieces and the model "
            f"{vocab_size}; give the vocabulary that it was trained with"
        )
    return ids


def write_tokenizer(
    directory: str | os.PathLike[str],
    vocab_file: str | os.PathLike[str],
    do_lower_case: bool,
    max_length: int,
) -> None:
    """Writes the files of a tokenizer.

    These are vocab.txt, tokenizer_config.json, special_tokens_map.json and,
    where the library tokenizers is installed, tokenizer.json.

    Args:
        directory: folder to write into.
        vocab_file: the vocabulary, one that `check_vocab` accepts.
        do_lower_case: whether text is lower-cased and loses its accents.
        max_length: longest input, in WordPieces.

    Raises:
        OSError: a file cannot be read or written.
    """

    def write(name: str, contents: dict[str, Any]) -> None:
        write_text(
            os.path.join(directory, name),
            json.dumps(contents, indent=2, sort_keys=True) + "\n",
        )

    copy_file(vocab_file, os.path.join(directory, "vocab.txt"))
    write("special_tokens_map.json", _SPECIAL_TOKENS)
    write(
        CONFIG_FILE,
        {
            **_SPECIAL_TOKENS,
            "do_lower_case": do_lower_case,
            "model_max_length": max_length,
            "strip_accents": None,
            "tokenize_chinese_chars": True,
            "tokenizer_class": "BertTokenizer",
        },
    )
    if importlib.util.find_spec("tokenizers"):
        text = _create_tokenizer(_read_vocab(vocab_file), do_lower_case)
        write_text(os.path.join(directory, "tokenizer.json"), text)


def _create_tokenizer(tokens: list[str], do_lower_case: bool) -> str:
    """Returns the contents of a tokenizer.json."""
    import tokenizers

    ids = {token: index for index, token in enumerate(tokens)}
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            ids,
            unk_token=_SPECIAL_TOKENS["unk_token"],
            max_input_chars_per_word=_MAX_WORD_LENGTH,
        )
    )
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(
        lowercase=do_lower_case
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    tokenizer.decoder = tokenizers.decoders.WordPiece()
    tokenizer.add_special_tokens(list(_SPECIAL_TOKENS.values()))
    return tokenizer.to_str(pretty=True)


def _read_vocab(vocab_file: str | os.PathLike[str]) -> list[str]:
    """Returns the WordPieces, including those of white space."""
    with (
        named_errors(vocab_file),
        open(vocab_file, encoding="utf-8", newline="\n") as reader,
    ):
        try:
            return [line.rstrip("\r\n") for line in reader]
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{vocab_file} is not UTF-8: {error.reason} at byte "
                f"{error.start}; save it as UTF-8"
            ) from error
