"""Reads text as documents: lists of sentences, each a list of WordPieces.

A WordPiece is represented by the bytes that encode its id in a TFRecord. The
record of an instance is then created by joining the bytes of its WordPieces.
"""

import dataclasses
import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
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
        self, block: Block, counts: Counter[str], dropped: Counter[str]
    ) -> Iterator[list[bytes] | None]:
        """Yields each sentence of a block, and None for each blank line.

        Adds the numbers of sentences, of WordPieces and of [UNK] to `counts`:
        "num_sentences", "num_tokens" and "num_unknown". Adds the number of
        bytes that are not UTF-8 to `dropped[block.path]`.
        """
        lines = text_files.read_lines(
            block.path, dropped, block.start, block.end
        )
        unknown = self.pieces["[UNK]"]
        for line in map(str.strip, lines):
            if not line:
                yield None
                continue
            for sentence in self._split_sentences(line):
                words = characters.clean_text(sentence).split()
                encoded = self._words.of_all(words)
                counts["num_sentences"] += bool(encoded)
                counts["num_tokens"] += len(encoded)
                counts["num_unknown"] += encoded.count(unknown)
                yield encoded


# Returns a TextReader. Successive calls with equal options return the same
# reader, because its vocabulary and its cache of words are large.
create_reader = functools.lru_cache(maxsize=1)(TextReader)


def group_documents(
    lines: Iterable[list[bytes] | None], max_pieces: float, counts: Counter[str]
) -> Iterator[list[Document]]:
    """Yields lists of documents that fit into memory.

    Args:
        lines: sentences from `TextReader.read`. None ends a document.
        max_pieces: number of WordPieces that fill a list. A list ends after the
            document in which it reaches this number. But if the list reaches
            twice this number, it ends in the middle of the document.
        counts: Counter. The function adds the number of documents that end in
            `lines` to `counts["num_documents"]`.
    """
    documents: list[Document] = [[]]
    num_pieces = 0
    is_open = False
    for sentence in lines:
        if sentence:
            documents[-1].append(sentence)
            num_pieces += len(sentence)
            is_open = True
        elif sentence is None:
            counts["num_documents"] += is_open
            is_open = False
            if documents[-1]:
                documents.append([])
        if num_pieces >= max_pieces * (1 if sentence is None else 2):
            yield [document for document in documents if document]
            documents, num_pieces = [[]], 0
    if documents[0]:
        yield [document for document in documents if document]
