"""Splits paragraphs into sentences (--sentence_split)."""

import re
from collections.abc import Callable

# Language codes of ISO 639-1, to reject a wrong code. The package sentencex
# accepts any code, and uses the rules of English for an unknown language.
_LANGUAGES = frozenset(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce "
    "ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr "
    "fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is "
    "it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln "
    "lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv "
    "ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk "
    "sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw "
    "ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu".split()
)


def check_language(language: str) -> None:
    """Checks the language code of --sentence_split.

    Args:
        language: value of --sentence_split: a code of ISO 639-1, or any code
            of three letters. A hyphen and a region may follow.

    Raises:
        ValueError: the value is not a language code.
    """
    code = re.fullmatch("([a-z]{2,3})(-[A-Za-z]+)*", language)
    if not code or (len(code[1]) == 2 and code[1] not in _LANGUAGES):
        raise ValueError(
            f"--sentence_split={language} is not a language code; use an ISO "
            "639 code, such as en, de or zh"
        )


def splitter(language: str) -> Callable[[str], list[str]]:
    """Returns a function that splits a line of text into sentences.

    Args:
        language: code of the text's language, such as "en". If it is "", the
            function returns each line as one sentence.

    Raises:
        ValueError: the package sentencex is not installed.
    """
    if not language:
        return lambda line: [line]
    try:
        # An optional package.
        import sentencex
    except ImportError as error:
        raise ValueError(
            "--sentence_split needs the package sentencex; install it with "
            "`pip install sentencex`"
        ) from error

    def split(line: str) -> list[str]:
        parts = sentencex.segment(language, line)
        return [part.strip() for part in parts if part.strip()]

    return split
