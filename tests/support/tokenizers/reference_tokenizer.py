"""BERT's tokenizer character by character, as the paper's code defines it.

Slow and plain, with nothing cached: what the fast ones are compared with.

For example:

    pieces = tokenize("A boat.", vocab, do_lower_case=True)
"""

import unicodedata
from collections.abc import Container


def tokenize(
    text: str, vocab: Container[str], do_lower_case: bool
) -> list[str]:
    """Returns the WordPieces of text."""
    pieces = []
    for word in basic_tokenize(text, do_lower_case):
        pieces.extend(wordpiece(word, vocab))
    return pieces


def basic_tokenize(text: str, do_lower_case: bool) -> list[str]:
    """Returns the words of text, split at white space and punctuation."""
    cleaned = ""
    for char in text:
        category = unicodedata.category(char)
        if char in " \t\n\r" or category == "Zs":
            cleaned += " "
        elif char in "\0\ufffd" or category in ("Cc", "Cf"):
            continue
        elif _is_chinese(ord(char)):
            cleaned += f" {char} "
        else:
            cleaned += char
    words = []
    for token in cleaned.split():
        if do_lower_case:
            token = "".join(
                char
                for char in unicodedata.normalize("NFD", token.lower())
                if unicodedata.category(char) != "Mn"
            )
        spaced = ""
        for char in token:
            spaced += f" {char} " if _is_punctuation(char) else char
        words.extend(spaced.split())
    return words


def wordpiece(word: str, vocab: Container[str]) -> list[str]:
    """Returns the WordPieces of a word, the longest first."""
    if len(word) > 200:
        return ["[UNK]"]
    pieces = []
    start = 0
    while start < len(word):
        end = len(word)
        while start < end:
            piece = ("##" if start else "") + word[start:end]
            if piece in vocab:
                pieces.append(piece)
                break
            end -= 1
        if start == end:
            return ["[UNK]"]
        start = end
    return pieces


def _is_chinese(cp: int) -> bool:
    return (
        0x4E00 <= cp <= 0x9FFF
        or 0x3400 <= cp <= 0x4DBF
        or 0x20000 <= cp <= 0x2A6DF
        or 0x2A700 <= cp <= 0x2B73F
        or 0x2B740 <= cp <= 0x2B81F
        or 0x2B820 <= cp <= 0x2CEAF
        or 0xF900 <= cp <= 0xFAFF
        or 0x2F800 <= cp <= 0x2FA1F
    )


def _is_punctuation(char: str) -> bool:
    cp = ord(char)
    return (
        33 <= cp <= 47
        or 58 <= cp <= 64
        or 91 <= cp <= 96
        or 123 <= cp <= 126
        or unicodedata.category(char).startswith("P")
    )
