"""Decides whether to lower-case text.

Files of transformers beside the vocabulary or the weights state the casing, or
the name of a Google release. Where no file says it, Google's default is to
lower-case, but for a vocabulary that looks cased, the user must set
do_lower_case.
"""

import os
import re
from typing import TYPE_CHECKING

from data.text.characters import strip_accents
from data.text.vocabulary_files import Vocabulary
from files.paths import StrPath
from model_folders.formats.huggingface_tokenizer import read_stated_casing
from model_folders.tokenizer_files import TOKENIZER_FILE, StatedCasing

if TYPE_CHECKING:
    from model_folders.reading.preset import Preset

# Matches the folder names of Google's releases.
_RELEASE_FOLDER = re.compile(
    r"((wwm_|multi_)?(un)?cased|multilingual|chinese)_L-\d+_H-\d+_A-\d+"
)
# Matches special tokens such as [CLS], [unused5] and the Chinese vocabulary's
# <S>.
_SPECIAL_TOKEN = re.compile(r"\[.*\]|<.*>")
# If lower-casing would change more of a vocabulary's words, it looks cased.
_CHANGED_SHARE = 0.01


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
        preset: what the folder of the model says. None = only the
            vocabulary's folder may state the casing.

    Raises:
        ValueError: the flag, a file and a release's name do not agree, or
            no file says the casing of a vocabulary that looks cased. Or the
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
    # The Preset contains what the files in its own folder say.
    folders = [folder, preset.folder] if preset else [folder]
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
