"""Reads text as documents: lists of sentences, each a list of WordPieces.

A WordPiece is represented by the bytes that encode its id in a TFRecord. The
record of an instance is then created by joining the bytes of its WordPieces.
"""

import dataclasses
import functools
import itertools
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from data.io import records, text_files
from data.text import characters, sentences, tokenization
from data.text.word_cache import WordCache

Document = list[list[bytes]]


class Continuation(bytes):
    """A WordPiece that continues the same word as the WordPiece before it."""


class Pieces(dict[str, bytes]):
    """Maps each WordPiece of a vocabulary to the bytes that encode its id.

    Args:
        vocab: {WordPiece: id}.

    Attributes:
        words: list of the ids, as bytes, of all WordPieces, in the vocabulary's
            order.
    """

    def __init__(self, vocab: Mapping[str, int]) -> None:
        for token, number in vocab.items():
            code = records.encode_varint(number)
            self[token] = Continuation(code) if token[:2] == "##" else code
        self.words = list(self.values())

    def decode(self, pieces: Iterable[bytes]) -> str:
        """Returns the text of encoded WordPieces, separated by spaces."""
        tokens = dict(zip(self.words, self, strict=True))
        return " ".join(tokens[piece] for piece in pieces)


@dataclasses.dataclass(frozen=True)
class TextOptions:
    """Options for turning text into WordPieces.

    Attributes:
        vocab_file: path of the vocabulary.
        do_lower_case: whether to lower-case the text and strip accents.
        sentence_split: code of the text's language, to split lines into
            sentences. "" = do not split lines.
    """

    vocab_file: str
    do_lower_case: bool
    sentence_split: str = ""


class Block(NamedTuple):
    """A range of lines of a text file.

    Attributes:
        path: path of the text file.
        start: offset of the first byte of the block.
        end: offset after the last byte of the block. None = the end of the
            file.
        is_cut: whether the block's last document continues after the block.
    """

    path: str
    start: int = 0
    end: int | None = None
    is_cut: bool = False


class TextReader:
    """Reads text files as sentences of encoded WordPieces.

    Attributes:
        pieces: Pieces, the vocabulary's encoded WordPieces.

    Raises:
        OSError: the vocabulary cannot be read.
        ValueError: an option is invalid.
    """

    def __init__(self, options: TextOptions) -> None:
        tokenizer = tokenization.FullTokenizer(
            options.vocab_file, options.do_lower_case
        )
        self.pieces = pieces = Pieces(tokenizer.vocab)
        self._words = WordCache(
            lambda word: [
                pieces[token] for token in tokenizer.tokenize_word(word)
            ]
        )
        self._split_sentences = sentences.splitter(options.sentence_split)

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
            text, length = [], 0

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
        yield from map(str.strip, lines)
        counts["num_dropped_bytes"] += dropped.total()
        if not block.is_cut:
            yield ""


# Returns a TextReader. Successive calls with equal options return the same
# reader, because its vocabulary and its cache of words are large.
create_reader = functools.lru_cache(maxsize=1)(TextReader)
