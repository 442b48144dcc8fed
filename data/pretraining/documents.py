"""Reads text as documents: lists of sentences, each a list of WordPieces."""

import itertools
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from data.io import text_files
from data.pretraining.corpus_checks import count_markup
from data.pretraining.corpus_parts import Block
from data.pretraining.encoded_vocabulary import EncodedVocabulary
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.sentence_split import create_splitter
from data.text import characters, tokenization
from data.text.words import WordCache

# Sentences, each a list of encoded WordPieces.
Document = list[list[bytes]]


class TextReader:
    """Reads text files as sentences of encoded WordPieces.

    Args:
        options: InstanceOptions, such as the vocabulary and the casing.

    Attributes:
        vocabulary: EncodedVocabulary, whose WordPieces the sentences have.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: --sentence_split is not a language code, or the package
            sentencex is not installed.
    """

    def __init__(self, options: InstanceOptions) -> None:
        tokenizer = tokenization.FullTokenizer(
            options.vocab_file, options.do_lower_case
        )
        vocabulary = EncodedVocabulary(tokenizer.vocab)
        self.vocabulary = vocabulary
        self._words = WordCache(
            lambda word: [
                vocabulary[token] for token in tokenizer.tokenize_word(word)
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
                "num_unknown" and "num_dropped_bytes". `count_markup` adds the
                numbers of lines that are no sentences.
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
        unknown = self.vocabulary["[UNK]"]
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
    """Yields the stripped lines of blocks, "" where a block ends a document."""
    for block in blocks:
        dropped: Counter[str] = Counter()
        lines = text_files.read_corpus_lines(
            block.path, dropped, block.start, block.end
        )
        for line in map(str.strip, lines):
            count_markup(line, counts)
            yield line
        counts["num_dropped_bytes"] += dropped.total()
        if not block.is_cut:
            yield ""
