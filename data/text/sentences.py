"""Splits paragraphs into sentences and sentences into words."""

import importlib
from collections.abc import Callable


def splitter(language: str) -> Callable[[str], list[str]]:
    """Returns a function that splits a line into sentences.

    Args:
        language: code of the text's language, such as "en"; "" = each line
            is one sentence.

    Raises:
        ValueError: the library is not installed.
    """
    if not language:
        return lambda line: [line]
    try:
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


def segmenter(name: str) -> Callable[[str], list[str]]:
    """Returns the function of --segmenter, checked each time it is called.

    Args:
        name: "module:function".

    Raises:
        ValueError: there is no such function, or it does not split a text to
            words.
    """
    module, _, function = name.partition(":")
    try:
        split = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"--segmenter={name} is no module:function that can be imported: "
            f"{error}"
        ) from error

    def segment(text: str) -> list[str]:
        try:
            returned = split(text)
            words = list(returned)
        except Exception as error:
            raise ValueError(
                f"--segmenter={name} must take a text and return its words. "
                f"Given {text[:80]!r} it raised {type(error).__name__}: {error}"
            ) from error
        # The characters of a str would pass for words.
        if isinstance(returned, str) or not all(
            isinstance(word, str) for word in words
        ):
            raise ValueError(
                f"--segmenter={name} must return a list of str. Given "
                f"{text[:80]!r} it returned {str(returned)[:80]}"
            )
        return words

    segment("A tug left the harbor.")
    return segment
