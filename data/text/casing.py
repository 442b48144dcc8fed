"""Determines whether a model expects lower-cased text.

Files of transformers beside the vocabulary or the weights state it, or the name
of a Google release. Where nothing states it, Google's default is to lower-case,
but for a vocabulary that looks cased, the user must set do_lower_case.
"""

import os
import re
from typing import Protocol

from data.text.characters import strip_accents
from files.paths import StrPath
from model_folders.formats.huggingface.tokenizer import read_stated_casing
from model_folders.reading.preset import Preset
from model_folders.tokenizer_files import TOKENIZER_FILE, StatedCasing

# Matches the folder names of Google's releases.
_RELEASE_FOLDER = re.compile(
    r"((wwm_|multi_)?(un)?cased|multilingual|chinese)_L-\d+_H-\d+_A-\d+"
)
# Matches special tokens such as [CLS], [unused5] and the Chinese vocabulary's
# <S>.
_SPECIAL_TOKEN = re.compile(r"\[.*\]|<.*>")
# If lower-casing would change more of a vocabulary's words, it looks cased.
_CHANGED_SHARE = 0.01


class CasedVocabulary(Protocol):
    """The attributes of a FullTokenizer that show its casing."""

    vocab_file: StrPath
    tokens: list[str]
    stated_casing: bool | None

    def check_same_vocab(self, other: str) -> None:
        """Checks that the file `other` contains the same WordPieces."""


def decide_casing(
    tokenizer: CasedVocabulary, flag: bool | None, preset: Preset | None = None
) -> bool:
    """Decides whether to lower-case the text, as the user or files state.

    A tokenizer.json beside the vocabulary must contain the same words.

    Args:
        tokenizer: tokenizer of the vocabulary.
        flag: value of do_lower_case, or None if the user did not set it.
        preset: what the folder of the model states. None = only the
            vocabulary's folder may state the casing.

    Raises:
        ValueError: the flag, a file and a release's name do not agree, or
            nothing states the casing of a vocabulary that looks cased. Or the
            words of the tokenizer.json differ.
        OSError: a file cannot be read.
    """
    neighbor = os.path.join(
        os.path.dirname(tokenizer.vocab_file), TOKENIZER_FILE
    )
    if os.path.isfile(neighbor):
        tokenizer.check_same_vocab(neighbor)
    source: StrPath = "do_lower_case (--do_lower_case)"
    for statement in _list_statements(tokenizer, preset):
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
        _check_looks_uncased(tokenizer)
    return flag is not False


def _list_statements(
    tokenizer: CasedVocabulary, preset: Preset | None
) -> list[StatedCasing]:
    """Returns the casings that files and the name of a release state."""
    vocab_file = tokenizer.vocab_file
    statements: list[StatedCasing] = [
        {"do_lower_case": tokenizer.stated_casing, "file": vocab_file}
    ]
    folder = os.path.dirname(vocab_file) or "."
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


def _check_looks_uncased(tokenizer: CasedVocabulary) -> None:
    """Raises a ValueError if lower-casing would change a vocabulary's words."""
    tokens = tokenizer.tokens
    changed = [
        token
        for token in tokens
        if strip_accents(token.lower()) != token
        and not _SPECIAL_TOKEN.match(token)
    ]
    if len(changed) > _CHANGED_SHARE * len(tokens):
        raise ValueError(
            f"{tokenizer.vocab_file}: lower-casing would change {len(changed)} "
            f"of {len(tokens)} words, such as {changed[0]!r}. Set "
            "do_lower_case (--do_lower_case) to False if the model is cased, "
            "else to True"
        )
