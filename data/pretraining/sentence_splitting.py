"""Splits lines of text into sentences, by the rules of a language."""

import re
from collections.abc import Callable

from dependencies.installation import install_command

# The language codes of ISO 639-1 and of its earlier editions, separated by
# spaces.
_ISO_639_1 = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce "
    "ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr "
    "fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is "
    "it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln "
    "lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv "
    "ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk "
    "sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw "
    "ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
# To reject a wrong code. The package sentencex accepts any code, and splits the
# text of an unknown language by the rules of English.
_TWO_LETTER_CODES = frozenset(_ISO_639_1.split())


def create_sentence_splitter(
    language: str | None,
) -> Callable[[str], list[str]]:
    """Returns a function that splits a line of text into sentences.

    Args:
        language: a language code, the value of --sentence_split. For None, each
            line is one sentence.

    Raises:
        ValueError: `language` is not a language code, or the package sentencex
            is not installed.
    """
    if language is None:
        return lambda line: [line]
    if not _is_language_code(language):
        raise ValueError(
            f"--sentence_split={language} is not a language code; use an ISO "
            "639 code, such as en, de or zh"
        )
    try:
        # An optional package.
        import sentencex
    except ImportError as error:
        raise ValueError(
            "--sentence_split needs the package sentencex: "
            f"{install_command('sentencex')}"
        ) from error

    return lambda line: [
        *filter(None, map(str.strip, sentencex.segment(language, line)))
    ]


def _is_language_code(text: str) -> bool:
    """Returns whether a text is a language code, such as "de" or "zh-yue"."""
    code = re.fullmatch("([a-z]{2,3})(-[A-Za-z]+)*", text)
    if not code:
        return False
    return len(code[1]) == 3 or code[1] in _TWO_LETTER_CODES
