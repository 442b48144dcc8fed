"""Reads text as documents: lists of sentences, each a list of WordPieces.

`DocumentReader` reads the lines of files, and `TextEncoder` turns the lines of
a document into sentences. With --sentence_split, it splits each line by the
rules of a language.
"""

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from data.io import text_files, tf_examples
from data.pretraining.corpus_checks import guess_markup
from data.pretraining.pretraining_options import InstanceOptions
from data.pretraining.sentence_splitting import create_sentence_splitter
from data.text import characters, tokenization
from data.text.tokenization import WordCache

# A WordPiece as the bytes that encode its id in a TFRecord. This is for speed:
# each WordPiece of the vocabulary is encoded once, and the record of an
# instance only joins the bytes of its WordPieces.
EncodedToken: TypeAlias = bytes
# Sentences, each a list of WordPieces.
Document: TypeAlias = list[list[EncodedToken]]


class LineRange(NamedTuple):
    """A range of lines of a text file.

    Attributes:
        path: a file of the corpus, which is text.
        start: offset of the first byte of the range.
        end: offset after the last byte of the range, None for the end of the
            file.
        is_cut: whether the range's last document continues after it.
    """

    path: str
    start: int = 0
    end: int | None = None
    is_cut: bool = False


class Continuation(EncodedToken):
    """An encoded WordPiece such as ##s, which continues a word.

    Its type distinguishes it from the first WordPiece of a word. So whole words
    are found without decoding any WordPiece.
    """


class EncodedVocabulary(dict[str, EncodedToken]):
    r"""Maps each WordPiece of a vocabulary to its EncodedToken.

    Examples:
        >>> vocabulary = EncodedVocabulary({"the": 7, "##s": 300})
        >>> vocabulary.encoded_tokens
        [b'\x07', b'\xac\x02']
        >>> isinstance(vocabulary["##s"], Continuation)
        True

    Args:
        vocab: {WordPiece: id}.

    Attributes:
        encoded_tokens: all WordPieces, encoded, in the vocabulary's order.
    """

    def __init__(self, vocab: Mapping[str, int]) -> None:
        for wordpiece, token_id in vocab.items():
            token = tf_examples.encode_varint(token_id)
            if wordpiece.startswith("##"):
                token = Continuation(token)
            self[wordpiece] = token
        self.encoded_tokens = list(self.values())


class TextEncoder:
    """Converts text to sentences of encoded WordPieces.

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
        self._tokens_of_words = WordCache(
            lambda word: [
                vocabulary[wordpiece]
                for wordpiece in tokenizer.tokenize_word(word)
            ]
        )
        self._split_sentences = create_sentence_splitter(options.sentence_split)

    def encode(self, lines: Iterable[str]) -> Document:
        """Returns the sentences of lines, without sentences of no WordPiece."""
        document = []
        for line in lines:
            for sentence in self._split_sentences(line):
                words = characters.clean_text(sentence).split()
                if tokens := self._tokens_of_words.of_all(words):
                    document.append(tokens)
        return document


class DocumentReader:
    """Reads the documents of text files, and counts what it reads.

    Attributes:
        vocabulary: the WordPieces of which the documents consist.
        counts: numbers of what was read so far: documents, sentences,
            WordPieces, [UNK] and bytes that are not UTF-8, as "num_documents",
            "num_sentences", "num_tokens", "num_unknown" and
            "num_dropped_bytes", and lines of markup, as `guess_markup` names
            them.
    """

    def __init__(self, encoder: TextEncoder) -> None:
        self.vocabulary = encoder.vocabulary
        self.counts: Counter[str] = Counter()
        self._encoder = encoder

    def read(
        self,
        line_ranges: Iterable[LineRange],
        is_wanted: Callable[[int], bool] = lambda checksum: True,
        max_characters: float = math.inf,
    ) -> Iterator[Document]:
        """Yields the documents of successive ranges of lines.

        A blank line ends a document, and so does the end of a range whose
        `is_cut` is False. Only documents that end are counted as documents, but
        what they contain is counted anyway.

        Args:
            line_ranges: the ranges to read.
            is_wanted: function of the CRC-32 of a document's text, which
                returns whether to yield the document.
            max_characters: a document that is longer becomes several.
        """
        lines = self._read_lines(line_ranges)
        for part in _split_documents(lines, max_characters):
            if not is_wanted(zlib.crc32("\n".join(part.lines).encode())):
                continue
            document = self._encoder.encode(part.lines)
            self._count_sentences(document)
            if document:
                self.counts["num_documents"] += part.ends_document
                yield document

    def _read_lines(self, line_ranges: Iterable[LineRange]) -> Iterator[str]:
        """Yields each stripped line, and "" after a range that is not cut."""
        for line_range in line_ranges:
            lines = text_files.read_lossy_lines(
                line_range.path, line_range.start, line_range.end
            )
            num_dropped = 0
            for lossy_line in lines:
                num_dropped += lossy_line.num_dropped
                line = lossy_line.text.strip()
                if markup := guess_markup(line):
                    self.counts[markup] += 1
                yield line
            self.counts["num_dropped_bytes"] += num_dropped
            if not line_range.is_cut:
                yield ""

    def _count_sentences(self, document: Document) -> None:
        unknown = self.vocabulary["[UNK]"]
        counts = self.counts
        counts["num_tokens"] += sum(map(len, document))
        counts["num_unknown"] += sum(
            sentence.count(unknown) for sentence in document
        )
        counts["num_sentences"] += len(document)


class _DocumentPart(NamedTuple):
    """Successive lines of a document, without empty lines.

    Attributes:
        lines: the lines.
        ends_document: whether the document ends with these lines.
    """

    lines: list[str]
    ends_document: bool


def _split_documents(
    lines: Iterable[str], max_characters: float
) -> Iterator[_DocumentPart]:
    """Yields the documents of lines, each whole or in several parts.

    An empty line ends a document. A part has `max_characters` or more, unless
    the document ends with it.

    Examples:
        >>> lines = ["It left.", "A", "tug", ""]
        >>> for part in _split_documents(lines, max_characters=4):
        ...     print(part.lines, part.ends_document)
        ['It left.'] False
        ['A', 'tug'] True
    """
    document_lines: list[str] = []
    num_characters = 0
    for line in lines:
        # Wait for the line after a full part, because only an empty line ends
        # the document.
        if document_lines and (not line or num_characters >= max_characters):
            yield _DocumentPart(document_lines, ends_document=not line)
            document_lines = []
            num_characters = 0
        if line:
            document_lines.append(line)
            num_characters += len(line)
    if document_lines:
        yield _DocumentPart(document_lines, ends_document=False)
