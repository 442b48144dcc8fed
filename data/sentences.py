"""Paragraphs to sentences, by a library that is installed where needed."""


def splitter(language):
    """Returns a function that splits a line to a list of sentences.

    Args:
        language: code of the text's language, such as "en"; "" = a line is a
            sentence already.

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

    def split(line):
        parts = sentencex.segment(language, line)
        return [part.strip() for part in parts if part.strip()]

    return split
