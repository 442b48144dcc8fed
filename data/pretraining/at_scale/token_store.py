"""A tokenized corpus on disk, read in any order without loading it.

The store is three files of numbers: the WordPieces of the whole corpus one
after the other, where each sentence begins among them, and where each document
begins among the sentences. Consecutive sentences are a contiguous part of the
first file.

A WordPiece is kept as its id, with the top bit set if it continues the word
of the one before it.
"""

import array
import contextlib
import dataclasses
import functools
import mmap
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from data.io import text_files
from data.text import characters, sentences, tokenization
from files.atomic import atomic_open

BLOCK_BYTES = 4 << 20
COUNTS = ("num_tokens", "num_sentences", "num_documents", "num_unknown")
_PARTS = ("tokens", "sentences", "documents")


@dataclasses.dataclass(frozen=True)
class TextOptions:
    """Options for turning text into WordPieces.

    Attributes:
        vocab_file: path of the vocabulary.
        do_lower_case: whether to lower-case the text and strip accents.
        sentence_split: language code to split lines into sentences by, or "".
        segmenter: "module:function" that splits a text into words, or "".
    """

    vocab_file: str
    do_lower_case: bool
    sentence_split: str = ""
    segmenter: str = ""


@dataclasses.dataclass(frozen=True)
class Block:
    """Part of a text file, the unit of work.

    Its documents are those after a blank line that begins in it.

    Attributes:
        path: the text file.
        start: first byte.
        end: end byte, exclusive; None = to the end.
        boundaries: file with the same lines, their words separated by spaces,
            or "".
    """

    path: str
    start: int = 0
    end: int | None = None
    boundaries: str = ""


def split_to_blocks(
    input_files: Sequence[str], boundary_files: Sequence[str] = ()
) -> list[Block]:
    """Splits text files into blocks, which depend only on the files.

    Args:
        input_files: paths.
        boundary_files: for each the path of its file of word boundaries, or
            nothing.

    Returns:
        list of Block. A compressed file, or one with word boundaries, is one
        block.
    """
    if boundary_files:
        return [
            Block(path, boundaries=boundaries)
            for path, boundaries in zip(
                input_files, boundary_files, strict=True
            )
        ]
    blocks = []
    for path in input_files:
        if path.endswith(".gz"):
            blocks.append(Block(path))
            continue
        size = text_files.size(path)
        blocks += [
            Block(path, start, min(start + BLOCK_BYTES, size))
            for start in range(0, size, BLOCK_BYTES)
        ]
    return blocks


def token_type(vocab_size: int) -> type[np.unsignedinteger]:
    """Returns the integer type that holds an id and the bit above it."""
    return np.uint16 if vocab_size <= 1 << 15 else np.uint32


def tokenize_block(
    options: TextOptions, block: Block, path: str
) -> dict[str, int]:
    """Writes the documents of a block to the files `path`.tokens and so on.

    Args:
        options: TextOptions.
        block: Block.
        path: prefix of the names of the three files.

    Returns:
        dict of COUNTS and num_dropped_bytes.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: a line's word boundaries do not match it.
    """
    encoder = _create_encoder(options)
    dropped: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    dtypes: tuple = (encoder.token_type, np.int64, np.int64)
    is_new_document = True
    with contextlib.ExitStack() as stack:
        add_tokens, add_ends, add_documents = (
            stack.enter_context(_number_file(f"{path}.{part}", dtype))
            for part, dtype in zip(_PARTS, dtypes, strict=True)
        )
        for encoded in _read_block(encoder, block, dropped):
            if encoded is None:
                is_new_document = True
                continue
            if not encoded:
                continue
            if is_new_document:
                add_documents([counts["num_sentences"]])
                counts["num_documents"] += 1
                is_new_document = False
            add_tokens(encoded)
            counts["num_tokens"] += len(encoded)
            counts["num_unknown"] += encoded.count(encoder.unknown)
            add_ends([counts["num_tokens"]])
            counts["num_sentences"] += 1
    return {
        **{name: counts[name] for name in COUNTS},
        "num_dropped_bytes": dropped[block.path],
    }


@contextlib.contextmanager
def _number_file(
    path: str, dtype: type[np.integer]
) -> Iterator[Callable[[Iterable[int]], None]]:
    """Yields a function that appends numbers to a file; it appears whole."""
    buffer = array.array(np.dtype(dtype).char)
    with atomic_open(path) as file:

        def extend(numbers: Iterable[int]) -> None:
            buffer.extend(numbers)
            if len(buffer) > 1 << 18:
                file.write(buffer.tobytes())
                del buffer[:]

        yield extend
        file.write(buffer.tobytes())


def _read_block(
    encoder: "_Encoder", block: Block, dropped: Counter[str]
) -> Iterator[list[int] | None]:
    """Yields each sentence of a block, encoded; None where a document ends."""
    lines = text_files.read_block(block.path, block.start, block.end, dropped)
    if block.boundaries:
        segmented = text_files.read_lines(block.boundaries)
        for number, line in enumerate(lines, start=1):
            words = next(segmented, "").split()
            if not line:
                yield None
                continue
            encoded = encoder.encode(line, words)
            if encoded is None:
                raise ValueError(
                    f"{block.boundaries}, line {number}: its words are not "
                    f"those of the same line of {block.path}; give the same "
                    "lines, with spaces between words"
                )
            yield encoded
        return
    for line in lines:
        if line:
            yield from map(encoder.encode, encoder.split_sentences(line))
        else:
            yield None


class _Encoder:
    """Encodes text as ids, with a bit that marks continued words."""

    def __init__(self, options: TextOptions) -> None:
        tokenizer = tokenization.FullTokenizer(
            options.vocab_file, options.do_lower_case
        )
        vocab = tokenizer.vocab
        self.token_type = token_type(len(vocab))
        self._top_bit = 1 << (8 * np.dtype(self.token_type).itemsize - 1)
        codes = {
            token: index | (self._top_bit if token.startswith("##") else 0)
            for token, index in vocab.items()
        }
        self._word_codes = tokenization.WordCache(
            lambda word: [
                codes[piece] for piece in tokenizer.tokenize_word(word)
            ]
        )
        self.unknown = vocab["[UNK]"]
        self.split_sentences = sentences.splitter(options.sentence_split)
        self._segment = None
        if options.segmenter:
            self._segment = sentences.segmenter(options.segmenter)

    def encode(
        self, text: str, words: list[str] | None = None
    ) -> list[int] | None:
        """Returns the codes of a sentence; None if `words` do not match it.

        Args:
            text: str.
            words: list of str, the words of `text`, or None.
        """
        codes = self._encode(text)
        if words is None and self._segment is not None:
            words = self._segment(text)
        if words is None:
            return codes
        joined = []
        for word in words:
            pieces = self._encode(word)
            joined += pieces[:1]
            joined += [code | self._top_bit for code in pieces[1:]]
        ids = [code & (self._top_bit - 1) for code in codes]
        if ids != [code & (self._top_bit - 1) for code in joined]:
            return None if self._segment is None else codes
        return joined

    def _encode(self, text: str) -> list[int]:
        return self._word_codes.of_all(characters.clean_text(text).split())


# Created once per worker: its vocabulary and cache of words are large.
_create_encoder = functools.lru_cache(maxsize=1)(_Encoder)


def check_options(options: TextOptions) -> None:
    """Raises in advance the ValueError that every block would raise."""
    _create_encoder(options)


def merge(parts: Sequence[tuple[str, Mapping[str, int]]], path: str) -> None:
    """Joins the files of blocks into one store.

    Args:
        parts: for each block, (path given to `tokenize_block`, its counts).
        path: prefix of the names of the store's files.
    """
    for name, counted in zip(_PARTS, (None, *COUNTS[:2]), strict=True):
        with atomic_open(f"{path}.{name}") as merged:
            offset = 0
            for part, counts in parts:
                with open(f"{part}.{name}", "rb") as file:
                    if counted is None:
                        shutil.copyfileobj(file, merged, 1 << 20)
                        continue
                    # Sentences end at WordPieces, documents begin at
                    # sentences, both counted from the block's start.
                    while chunk := file.read(1 << 23):
                        numbers = np.frombuffer(chunk, np.int64) + offset
                        merged.write(numbers.tobytes())
                offset += counts[counted]


def remove_parts(parts: Sequence[tuple[str, Mapping[str, int]]]) -> None:
    """Removes the files of blocks, of `parts` as given to `merge`."""
    for part, _ in parts:
        for name in _PARTS:
            os.remove(f"{part}.{name}")


class TokenStore:
    """Reads a store.

    Pages that were read stay mapped into memory until `release`.

    Args:
        path: prefix of the names of its files.
        vocab_size: number of WordPieces of its vocabulary.

    Attributes:
        tokens: codes of all WordPieces.
        num_documents: int.
        num_tokens: int.
    """

    def __init__(self, path: str, vocab_size: int) -> None:
        self._maps: list[mmap.mmap] = []
        self.tokens = self._map(f"{path}.tokens", token_type(vocab_size))
        self._sentence_ends = self._map(f"{path}.sentences", np.int64)
        self._documents = self._map(f"{path}.documents", np.int64)
        self.num_tokens = len(self.tokens)
        self.num_documents = len(self._documents)

    def _map(self, path: str, dtype: type[np.integer]) -> np.ndarray:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped.madvise(mmap.MADV_RANDOM)
        self._maps.append(mapped)
        return np.frombuffer(mapped, dtype)

    def release(self) -> None:
        """Returns the memory of mapped pages to the system."""
        for mapped in self._maps:
            mapped.madvise(mmap.MADV_DONTNEED)

    def sentences(self, document: int) -> tuple[int, int]:
        """Returns (first, end) of a document, numbers of sentences."""
        is_last = document + 1 == self.num_documents
        end = (
            len(self._sentence_ends)
            if is_last
            else int(self._documents[document + 1])
        )
        return int(self._documents[document]), end

    def offsets(self, first: int, end: int) -> list[int] | np.ndarray:
        """Returns where sentences begin, and where the last ends.

        Args:
            first: number of the first sentence.
            end: number after the last.

        Returns:
            end - first + 1 ints, positions in `tokens`: a list, which is
            quick to search, or an array where that would be large.
        """
        ends = self._sentence_ends[max(first - 1, 0) : end]
        if not first:
            ends = np.concatenate([[0], ends])
        return ends if len(ends) > 1 << 18 else ends.tolist()

    def document_start(self, document: int) -> int:
        """Returns the position in `tokens` where a document begins."""
        first = int(self._documents[document])
        return int(self._sentence_ends[first - 1]) if first else 0
