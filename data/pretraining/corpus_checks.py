"""Logs how much of a corpus was read, and warns of likely mistakes in it."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from absl import logging

# The input or a flag is usually wrong if more than this fraction of the
# WordPieces are [UNK], or if documents have fewer sentences on average.
_MANY_UNKNOWN_SHARE = 0.02
_FEW_SENTENCES = 1.5


def check_and_log_counts(
    corpus: Mapping[str, int], input_files: Sequence[str]
) -> None:
    """Logs counts of a corpus, and warns of likely mistakes.

    `corpus` is {name: count}, as a `DocumentReader` counts.

    Raises:
        ValueError: the input files contain no text.
    """
    num_documents = corpus["num_documents"]
    if not num_documents:
        raise ValueError(
            f"no text in the input: {', '.join(input_files)}; use files "
            "with one sentence a line and blank lines between documents"
        )
    num_sentences = corpus["num_sentences"]
    num_wordpieces = corpus["num_tokens"]
    unknown = corpus["num_unknown"] / num_wordpieces
    logging.info(
        f"corpus: {num_documents:,} documents, {num_sentences:,} sentences, "
        f"{num_wordpieces:,} WordPieces, {unknown:.2%} [UNK]"
    )
    warn_of_markup(corpus)
    _warn_of_mistakes(corpus)


def _warn_of_mistakes(corpus: Mapping[str, int]) -> None:
    """Warns of lost bytes, of missing or extra blank lines, and of [UNK]."""
    num_documents = corpus["num_documents"]
    num_sentences = corpus["num_sentences"]
    unknown = corpus["num_unknown"] / corpus["num_tokens"]
    if dropped := corpus["num_dropped_bytes"]:
        logging.warning("dropped %d bytes that are not UTF-8", dropped)
    if num_documents == 1:
        logging.warning(
            "the input is one document, so random next sentences come from "
            "the same document. Separate documents by blank lines"
        )
    elif num_sentences < _FEW_SENTENCES * num_documents:
        logging.warning(
            f"{num_sentences / num_documents:.1f} sentences per document: most "
            "sentences have no next sentence. Put blank lines only between "
            "documents, not between sentences"
        )
    if unknown > _MANY_UNKNOWN_SHARE:
        logging.warning(
            f"{unknown:.1%} of the WordPieces are [UNK]. Check that the "
            "vocabulary is for the language of the input, and that "
            "--do_lower_case fits the vocabulary"
        )


class _Markup(NamedTuple):
    """Lines that tools such as WikiExtractor write around texts.

    Attributes:
        pattern: pattern of the lines.
        advice: what the lines are, and what to do.
    """

    pattern: re.Pattern[str]
    advice: str


# {name of a count: the lines that it counts}.
_MARKUP_OF_COUNT = {
    "num_doc_tags": _Markup(
        re.compile(r"</?doc(\s.*)?>$"),
        "<doc> tags, as WikiExtractor writes them, and would become sentences. "
        "Remove them: sed -E '/^<\\/?doc( |>)/d'",
    ),
    "num_json_lines": _Markup(
        re.compile(r'\{\s*".*\}$'),
        "JSON, of which keys and marks would become words. Extract the texts: "
        "jq -r '.text + \"\\n\"'",
    ),
}


def guess_markup(line: str) -> str | None:
    """Returns the name of a count of lines that are markup, not sentences.

    Examples:
        >>> guess_markup('<doc id="1">'), guess_markup('{"text": "It left."}')
        ('num_doc_tags', 'num_json_lines')

    Args:
        line: the line, without white space at its ends.

    Returns:
        the name under which such lines are counted, None for a sentence.
    """
    if not line.startswith(("<", "{")):
        return None
    for name, markup in _MARKUP_OF_COUNT.items():
        if markup.pattern.match(line):
            return name
    return None


def warn_of_markup(counts: Mapping[str, int]) -> None:
    """Logs a warning about the lines of each name that `guess_markup` returns.

    `counts` is {name of a count: number of lines}.
    """
    for name, markup in _MARKUP_OF_COUNT.items():
        if num_lines := counts.get(name):
            logging.warning(
                "%d lines of the input are %s", num_lines, markup.advice
            )
