"""Reads text as documents: lists of sentences, each a list of WordPieces."""

import itertools
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from absl import logging

from data.io import text_files
from data.pretraining.corpus_parts import Block
from data.pretraining.encoded_pieces import Pieces
from data.pretraining.options import InstanceOptions
from data.pretraining.sentence_split import create_splitter
from data.text import characters, tokenization
from data.text.words import WordCache

Document = list[list[bytes]]

# {name of a count: (pattern of lines that are no sentences, what they are and
# what to do)}. Tools such as WikiExtractor write these lines around texts.
_MARKUP = {
    "num_doc_tags": (
        re.compile(r"</?doc(\s.*)?>$"),
        "<doc> tags, as WikiExtractor writes them, and would become sentences. "
        "Remove them: sed -E '/^<\\/?doc( |>)/d'",
    ),
    "num_json_lines": (
        re.compile(r'\{\s*".*\}$'),
        "JSON, of which keys and marks would become words. Extract the texts: "
        "jq -r '.text + \"\\n\"'",
    ),
}

# The input or a flag is usually wrong if more than this fraction of the
# WordPieces are [UNK], or if documents have fewer sentences on average.
_MANY_UNKNOWN = 0.02
_FEW_SENTENCES = 1.5


class TextReader:
    """Reads text files as sentences of encoded WordPieces.

    Args:
        options: InstanceOptions, such as the vocabulary and the casing.

    Attributes:
        pieces: Pieces, the vocabulary's encoded WordPieces.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: --sentence_split is not a language code, or the package
            sentencex is not installed.
    """

    def __init__(self, options: InstanceOptions) -> None:
        tokenizer = tokenization.FullTokenizer(
            options.vocab_file, options.do_lower_case
        )
        self.pieces = pieces = Pieces(tokenizer.vocab)
        self._words = WordCache(
            lambda word: [
                pieces[token] for token in tokenizer.tokenize_word(word)
            ]
        )
        self._split_sentences = create_splitter(options.sentence_split)

    def read(
        self,
        blocks: Iterable[Block],
        counts: Counter[str],
        is_wanted: Callable[[int], bool] = lambda checksum: True,
        max_characters: float = math.inf,
    ) -> Iterator[Document]:
        """Yields the documents of successive blocks.

        A blank line ends a document, and so does the end of a block whose
        `is_cut` is False.

        Args:
            blocks: the blocks to read.
            counts: Counter. The function adds the numbers of documents, of
                sentences, of WordPieces, of [UNK] and of bytes that are not
                UTF-8: "num_documents", "num_sentences", "num_tokens",
                "num_unknown" and "num_dropped_bytes".
            is_wanted: function of the CRC-32 of a document's text, which
                returns whether to yield the document.
            max_characters: a document that is longer becomes several.
        """
        text: list[str] = []
        length = 0
        # None ends the last document if its block is cut.
        for line in itertools.chain(_read_lines(blocks, counts), [None]):
            if line:
                text.append(line)
                length += len(line)
                if length < max_characters:
                    continue
            if not text:
                continue
            if is_wanted(zlib.crc32("\n".join(text).encode())):
                document = self._tokenize(text, counts)
                if document:
                    counts["num_documents"] += line == ""
                    yield document
            text = []
            length = 0

    def _tokenize(self, text: list[str], counts: Counter[str]) -> Document:
        document = []
        unknown = self.pieces["[UNK]"]
        for line in text:
            for sentence in self._split_sentences(line):
                words = characters.clean_text(sentence).split()
                if encoded := self._words.of_all(words):
                    counts["num_tokens"] += len(encoded)
                    counts["num_unknown"] += encoded.count(unknown)
                    document.append(encoded)
        counts["num_sentences"] += len(document)
        return document


def _read_lines(blocks: Iterable[Block], counts: Counter[str]) -> Iterator[str]:
    # Yields the stripped lines of blocks, and "" if a block ends a document.
    for block in blocks:
        dropped: Counter[str] = Counter()
        lines = text_files.read_lines(
            block.path, dropped, block.start, block.end
        )
        for line in map(str.strip, lines):
            count_markup(line, counts)
            yield line
        counts["num_dropped_bytes"] += dropped.total()
        if not block.is_cut:
            yield ""


def count_markup(line: str, counts: Counter[str]) -> None:
    """Counts a stripped line of a corpus that is a tag or JSON, no sentence."""
    if not line.startswith(("<", "{")):
        return
    for name, (pattern, _) in _MARKUP.items():
        if pattern.match(line):
            counts[name] += 1


def warn_of_markup(counts: Mapping[str, int]) -> None:
    """Logs a warning for each kind of line that `count_markup` counted."""
    for name, (_, advice) in _MARKUP.items():
        if number := counts.get(name):
            logging.warning("%d lines of the input are %s", number, advice)


def log_counts(corpus: Mapping[str, int], input_files: Sequence[str]) -> None:
    """Logs counts of a corpus, and warns of likely mistakes.

    `corpus` is {name: count}, as `TextReader.read` counts.

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
    num_tokens = corpus["num_tokens"]
    unknown = corpus["num_unknown"] / num_tokens
    logging.info(
        f"corpus: {num_documents:,} documents, {num_sentences:,} sentences, "
        f"{num_tokens:,} WordPieces, {unknown:.2%} [UNK]"
    )
    warn_of_markup(corpus)
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
    if unknown > _MANY_UNKNOWN:
        logging.warning(
            f"{unknown:.1%} of the WordPieces are [UNK]. Check that the "
            "vocabulary is for the language of the input, and that "
            "--do_lower_case fits the vocabulary"
        )
