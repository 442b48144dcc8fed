"""Reads the vocabulary of a model, and decides whether to lower-case text.

A vocabulary is a vocab.txt or a tokenizer.json. It must fit the model.

Files of transformers beside the vocabulary or the weights state the casing, or
the name of a Google release. Where nothing states it, Google's default is to
lower-case, but for a vocabulary that looks cased, the user must set
do_lower_case.
"""

import dataclasses
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import TYPE_CHECKING

from absl import logging

from data.io import compressed_files, text_files
from data.text.characters import strip_accents
from files.paths import StrPath
from model_folders.formats.huggingface_tokenizer import read_stated_casing
from model_folders.formats.huggingface_vocabulary import parse_tokenizer
from model_folders.tokenizer_files import TOKENIZER_FILE, StatedCasing

if TYPE_CHECKING:
    from model_folders.reading.preset import Preset

# WordPieces that the network's inputs contain, whatever the texts are.
REQUIRED_TOKENS = ("[CLS]", "[SEP]", "[MASK]", "[UNK]")
# SentencePiece marks the beginning of a word with U+2581, and GPT-2 a space
# with U+0120.
_FOREIGN_MARKS = ("\u2581", "\u0120")
# Matches the folder names of Google's releases.
_RELEASE_FOLDER = re.compile(
    r"((wwm_|multi_)?(un)?cased|multilingual|chinese)_L-\d+_H-\d+_A-\d+"
)
# Matches special tokens such as [CLS], [unused5] and the Chinese vocabulary's
# <S>.
_SPECIAL_TOKEN = re.compile(r"\[.*\]|<.*>")
# If lower-casing would change more of a vocabulary's words, it looks cased.
_CHANGED_SHARE = 0.01


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
        """Checks that the user chose the casing that a tokenizer.json states.

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


def chosen_casing(do_lower_case: bool, *, is_set_by_user: bool) -> bool | None:
    """Returns the casing that the user chose, None if files may state another.

    True is the default of do_lower_case, and so a choice only if it is set.
    """
    return None if do_lower_case and not is_set_by_user else do_lower_case


def decide_casing(
    vocabulary: Vocabulary, flag: bool | None, preset: "Preset | None" = None
) -> bool:
    """Decides whether to lower-case the text, as the user or files state.

    A tokenizer.json beside the vocabulary must contain the same words.

    Args:
        vocabulary: the WordPieces of the model.
        flag: value of do_lower_case, or None if the user did not set it.
        preset: what the folder of the model states. None = only the
            vocabulary's folder may state the casing.

    Raises:
        ValueError: the flag, a file and a release's name do not agree, or
            nothing states the casing of a vocabulary that looks cased. Or the
            words of the tokenizer.json differ.
        OSError: a file cannot be read.
    """
    neighbor = os.path.join(os.path.dirname(vocabulary.path), TOKENIZER_FILE)
    if os.path.isfile(neighbor):
        vocabulary.check_same_tokens(neighbor)
    source: StrPath = "do_lower_case (--do_lower_case)"
    for statement in _list_statements(vocabulary, preset):
        casing = statement.get("do_lower_case")
        if casing is None:
            continue
        if flag is None:
            flag = casing
            source = statement["file"]
        elif flag != casing:
            raise ValueError(
                f"{source} sets lower-casing to {flag}, but "
                f"{statement['file']} to {not flag}. Correct or remove the "
                "wrong one"
            )
    if flag is None:
        _check_looks_uncased(vocabulary)
    return flag is not False


def _list_statements(
    vocabulary: Vocabulary, preset: "Preset | None"
) -> list[StatedCasing]:
    """Returns the casings that files and the name of a release state."""
    statements: list[StatedCasing] = [
        {"do_lower_case": vocabulary.stated_casing, "file": vocabulary.path}
    ]
    folder = os.path.dirname(vocabulary.path) or "."
    # The Preset states what the files in its own folder say.
    folders = [folder, preset.path] if preset else [folder]
    if len({*map(os.path.realpath, folders)}) == len(folders):
        statements.append(read_stated_casing(folder))
    if preset:
        statements.append(preset.stated_casing)
        # The path of a release is NAME/bert_model.ckpt or the folder NAME.
        release = re.sub(r"/*(/bert_model\.ckpt.*)?$", "", preset.weights_path)
        release = os.path.basename(release)
        if _RELEASE_FOLDER.fullmatch(release):
            is_cased = re.search("(?<!un)cased", release)
            statements.append(
                {"do_lower_case": not is_cased, "file": preset.weights_path}
            )
    return statements


def _check_looks_uncased(vocabulary: Vocabulary) -> None:
    """Raises a ValueError if lower-casing would change many of the words."""
    tokens = vocabulary.tokens
    changed = [
        token
        for token in tokens
        if strip_accents(token.lower()) != token
        and not _SPECIAL_TOKEN.match(token)
    ]
    if len(changed) > _CHANGED_SHARE * len(tokens):
        raise ValueError(
            f"{vocabulary.path}: lower-casing would change {len(changed)} "
            f"of {len(tokens)} words, such as {changed[0]!r}. Set "
            "do_lower_case (--do_lower_case) to False if the model is cased, "
            "else to True"
        )
