"""Finds the encoding of a text, or says which encodings are likely."""

import codecs
import re
import unicodedata

from files.paths import StrPath

# {first bytes of a file: encoding}. UTF-32's mark begins with UTF-16's.
_ENCODING_OF_BOM = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# {encodings of texts that are not UTF-8: their names in iconv}, by frequency.
_ICONV_NAME_OF_ENCODING = {
    "cp1252": "CP1252",
    "cp1251": "CP1251",
    "gb18030": "GB18030",
    "cp932": "CP932",
    "cp949": "CP949",
    "big5": "BIG5",
    "cp1250": "CP1250",
    "cp1253": "CP1253",
    "cp1254": "CP1254",
    "koi8_r": "KOI8-R",
    "mac_roman": "MACINTOSH",
    "cp850": "CP850",
}
# Signs that texts contain, besides letters.
_USUAL_SIGNS = frozenset("–—‘’“”„…•«»€£°§¿¡、。，！？「」《》（）：")  # noqa: RUF001  they are meant


def find_bom_encoding(first_bytes: bytes) -> str | None:
    """Returns the encoding that a mark at the beginning shows, or None."""
    names = (
        name
        for mark, name in _ENCODING_OF_BOM.items()
        if first_bytes.startswith(mark)
    )
    return next(names, None)


def check_is_not_utf16(first_bytes: bytes, path: StrPath) -> None:
    """Checks that a text is not UTF-16 without a mark.

    Raises:
        ValueError: the text is UTF-16.
    """
    line = first_bytes[: first_bytes.find(b"\n") + 1] or first_bytes
    # In UTF-16, every second byte of English text is zero. In other scripts, at
    # least the spaces and line ends contain a zero byte.
    is_wide = first_bytes.count(0) > max(len(first_bytes) // 3, 4)
    is_wide |= 0 in line and "\ufffd" in line.decode("utf-8", "replace")
    if is_wide:
        # The higher byte of a line end or of an English letter is zero.
        is_little = first_bytes[1::2].count(0) >= first_bytes[::2].count(0)
        order = "le" if is_little else "be"
        raise ValueError(
            f"{path}, line 1: the text is not UTF-8, but perhaps UTF-16. Set "
            f"--encoding=utf-16-{order}, or convert the file with iconv -f "
            f"UTF-16{order.upper()} -t UTF-8"
        )


def check_encoding(text: str, encoding: str | None = None) -> None:
    """Checks that a decoded text was rightly encoded.

    Args:
        text: the text, in which lone surrogates stand for the wrong bytes.
        encoding: the encoding with which it was decoded, None for UTF-8.

    Raises:
        ValueError: the text contains wrong bytes.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        if encoding:
            raise ValueError(f"the text is not {encoding}") from None
        data = text.encode("utf-8", "surrogateescape")
        raise ValueError(
            f"the text is not UTF-8. {_describe_first_word(data)}"
        ) from None


def _describe_first_word(data: bytes) -> str:
    """Shows the first word that is not ASCII in the two likeliest encodings."""
    words = re.findall(rb"[^\s,;|\"]*[\x80-\xff][^\s,;|\"]*", data)
    scores = {
        name: _score_encoding(b" ".join(words), name)
        for name in _ICONV_NAME_OF_ENCODING
    }
    # A word with other letters is easy to recognize.
    mixed_words = (word for word in words if re.search(rb"[A-Za-z]", word))
    word = next(mixed_words, words[0])
    encoding_of_text: dict[str, str] = {}
    for name in sorted(
        _ICONV_NAME_OF_ENCODING, key=scores.__getitem__, reverse=True
    ):
        # Other encodings of the same word tell the reader nothing.
        encoding_of_text.setdefault(word.decode(name, "replace"), name)
    (first, best), (second, other), *_ = encoding_of_text.items()
    return (
        f"The first such word is {first[:40]!r} in {best} and {second[:40]!r} "
        f"in {other}. Set --encoding={best}, or convert the file with iconv -f "
        f"{_ICONV_NAME_OF_ENCODING[best]} -t UTF-8, or in the other case -f "
        f"{_ICONV_NAME_OF_ENCODING[other]}"
    )


def _score_encoding(data: bytes, encoding: str) -> float:
    """Rates how much decoded text looks like words of one script."""
    text = data.decode(encoding, "replace")
    total = 0.0
    num_letters = 0
    before = " "
    for letter in text:
        if not letter.isascii():
            total += _score_letter(letter, before)
            num_letters += 1
        before = letter
    return total / max(num_letters, 1)


def _score_letter(letter: str, before: str) -> float:
    """Rates a letter that is not ASCII, and stands after another letter.

    The highest number is for letters that texts contain.
    """
    category = unicodedata.category(letter)
    if category in ("Cc", "Cn", "Co", "So") or letter == "\ufffd":
        return -4
    if letter in _USUAL_SIGNS:
        return 2
    if category not in ("Ll", "Lu", "Lo"):
        return -1
    if category == "Lo":
        # Everyday Chinese comes first in GB 2312 and Big5.
        return 1.5 if _is_frequent(letter) else -1
    if before.isalpha() and _script_of(before) != _script_of(letter):
        return -2
    if not before.isascii() and _script_of(letter) == "LATIN":
        # Languages with Latin letters rarely put a mark on two in a row.
        return 0
    if category == "Lu":
        return 1 if not before.isalpha() or before.isupper() else -2
    return 2


def _is_frequent(letter: str) -> bool:
    script = _script_of(letter)
    if script != "CJK":
        return script != "HALFWIDTH"
    simple, traditional = (
        letter.encode(name, "ignore") for name in ("gb2312", "big5")
    )
    return b"" < simple < b"\xd8" or b"" < traditional < b"\xc7"


def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
