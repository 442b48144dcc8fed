"""Reads the WordPieces of a vocab.txt or of a tokenizer.json."""

import os
from codecs import BOM_UTF8
from typing import NamedTuple

from data.io import compressed_files, text_files
from files.paths import StrPath
from model_folders.formats.huggingface.vocabulary import (
    parse_tokenizer,
)


class Vocabulary(NamedTuple):
    """The WordPieces of a vocabulary file, and how it is cased.

    Attributes:
        contents: decompressed contents, without a byte order mark. If the file
            is a tokenizer.json, the contents of an equivalent vocab.txt.
        tokens: the WordPieces in the order of their ids.
        stated_casing: whether the tokenizer.json lower-cases text. None if the
            file is another one.
    """

    contents: bytes
    tokens: list[str]
    stated_casing: bool | None


def read_vocabulary(vocab_file: StrPath) -> Vocabulary:
    """Reads a vocabulary with one WordPiece a line, or a tokenizer.json.

    Raises:
        OSError: the file cannot be read.
        ValueError: the first line is not text, or the file is a tokenizer.json
            whose tokenizer is not BERT's.
    """
    path = os.fspath(vocab_file)
    with text_files.open_binary(vocab_file) as file:
        contents: bytes = file.read().removeprefix(BOM_UTF8)
    stated_casing: bool | None = None
    if compressed_files.uncompressed_name(path).endswith(".json"):
        contents, stated_casing = parse_tokenizer(contents, path)
    first, end, _ = contents.partition(b"\n")
    text_files.check_first_line(first + end, path)
    # As in Google's code, only a line feed ends a line, and bytes that are not
    # UTF-8 are dropped.
    text = contents.decode("utf-8", "ignore").removesuffix("\n")
    tokens = [line.strip() for line in text.split("\n")]
    return Vocabulary(contents, tokens, stated_casing)
