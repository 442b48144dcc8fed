"""Reads the vocabulary of a model, and checks that it fits the model.

A vocabulary is a vocab.txt or a tokenizer.json.
"""

import dataclasses
import os
from codecs import BOM_UTF8
from collections.abc import Iterable

from absl import logging

from data.io import compressed_files, text_files
from files.paths import StrPath
from model_folders.formats.huggingface_vocabulary import parse_tokenizer

# WordPieces that the network's inputs contain, whatever the texts are.
REQUIRED_TOKENS = ("[CLS]", "[SEP]", "[MASK]", "[UNK]")
# SentencePiece marks the beginning of a word with U+2581, and GPT-2 a space
# with U+0120.
_FOREIGN_MARKS = ("\u2581", "\u0120")


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """The WordPieces of a file, and whether they fit a model.

    Attributes:
        path: path of the file, for messages.
        contents: decompressed contents, without a byte order mark. If the file
            is a tokenizer.json, the contents of an equivalent vocab.txt.
        tokens: the WordPieces in the order of their ids.
        stated_casing: whether the tokenizer.json lower-cases text. None if the
            file is another one.
    """

    path: StrPath
    contents: bytes
    tokens: list[str]
    stated_casing: bool | None = None

    def count_entries(self, at_least: int = 0) -> int:
        """Returns the number of WordPieces, without empty lines at the end.

        Editors may add such lines. The first `at_least` lines always count.
        """
        num_entries = len(self.tokens)
        while num_entries > at_least and not self.tokens[num_entries - 1]:
            num_entries -= 1
        return num_entries

    def check_tokens(
        self, special_tokens: Iterable[str] = REQUIRED_TOKENS
    ) -> None:
        """Checks that the lines are WordPieces, with all `special_tokens`.

        As in Google's code, a line may be repeated.

        Raises:
            ValueError: a special token is missing, or the lines are not
                WordPieces.
        """
        # Every word would become [UNK].
        num_foreign = sum(token[:1] in _FOREIGN_MARKS for token in self.tokens)
        if num_foreign > len(self.tokens) // 20:
            raise ValueError(
                f"{self.path}: {num_foreign} words begin with \u2581 or "
                "\u0120, so this is the vocabulary of SentencePiece or GPT-2. "
                "Use a vocabulary of WordPieces"
            )
        present = {*self.tokens}
        missing = [name for name in special_tokens if name not in present]
        if missing:
            raise ValueError(
                f"{self.path}: {', '.join(missing)} not found in "
                f"{len(self.tokens)} lines; use a BERT vocabulary, one "
                "WordPiece a line"
            )

    def check_size(self, vocab_size: int) -> None:
        """Checks that the vocabulary is not larger than the model's.

        As in Google's code, it may be smaller, which is only a warning.

        Args:
            vocab_size: size of the model's vocabulary.

        Raises:
            ValueError: there are more lines than `vocab_size`.
        """
        num_entries = self.count_entries(vocab_size)
        if num_entries > vocab_size:
            raise ValueError(
                f"{self.path} is larger than the model: {num_entries} "
                f"WordPieces, but vocab_size is {vocab_size}; use the "
                "vocabulary that the model was trained with"
            )
        if num_entries < vocab_size:
            logging.warning(
                f"{self.path} is smaller than the model: {num_entries} "
                f"WordPieces, but vocab_size is {vocab_size}; the model's last "
                f"{vocab_size - num_entries} embeddings stay unused"
            )

    def check_same_tokens(self, other: StrPath, source: str = "") -> None:
        """Checks that another file contains the same WordPieces.

        This vocabulary may have words instead of entries [unusedN] of `other`,
        and either may have more words.

        Args:
            other: path of a vocab.txt or a tokenizer.json.
            source: model that `other` belongs to, for the message.

        Raises:
            OSError: the other file cannot be read.
            ValueError: an id has another WordPiece in `other`.
        """
        if os.path.realpath(other) == os.path.realpath(self.path):
            return
        pairs = zip(read_vocabulary(other).tokens, self.tokens, strict=False)
        for line_number, (theirs, ours) in enumerate(pairs, start=1):
            if theirs != ours and not theirs.startswith("[unused"):
                raise ValueError(
                    f"{self.path} is not the vocabulary of {source or other}: "
                    f"line {line_number} is {ours!r} instead of {theirs!r}. "
                    f"Set vocab_file (--vocab_file) to {other}, or leave it out"
                )

    def check_casing(self, do_lower_case: bool | None) -> None:
        """Checks that the user chose the casing that a tokenizer.json says.

        `do_lower_case` is None if the user chose nothing.

        Raises:
            ValueError: the two differ.
        """
        stated = self.stated_casing
        if stated is None or do_lower_case in (None, stated):
            return
        raise ValueError(
            f"{os.fspath(self.path)}: `normalizer.lowercase` is "
            f"{str(stated).lower()}; set do_lower_case={stated} (as a flag, "
            f"--do_lower_case={stated})"
        )


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
    return Vocabulary(vocab_file, contents, tokens, stated_casing)
