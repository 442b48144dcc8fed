"""SQuAD: the windows of question and passage that the network reads.

A window is `[CLS] question [SEP] part of the passage [SEP]`; a passage that
is too long for one is cut into windows that overlap. reading.py reads
the questions from a file; decoding.py turns the network's outputs for
the windows into answers.
"""

import bisect
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from data.squad.reading import WORD, SquadExample
from data.text.alignment import tokenize_with_spans
from data.text.tokenization import FullTokenizer
from data.text.windows import check_is_max_context as _check_is_max_context
from data.text.windows import cut_spans
from files.flags import flag

FIRST_UNIQUE_ID = 1000000000


@dataclasses.dataclass(slots=True)
class SquadFeatures:
    """One window.

    Attributes:
        unique_id: int, from 1000000000.
        example_index: int, index of its example.
        doc_span_index: int, index among the example's windows.
        tokens: list of str, without padding.
        token_to_orig_map: for each position of a passage token, its word.
        token_is_max_context: for each position of a passage token, whether
            no other window has more context around it.
        input_ids: list of int, [max_seq_length].
        input_mask: list of int, [max_seq_length], 1 = a real token.
        segment_ids: list of int, [max_seq_length], 1 = of the passage.
        start_position: int, in training: position of the answer's first
            token; 0 if the window does not hold the answer.
        end_position: int, in training: position of its last token.
        is_impossible: bool, as in the example.
        token_to_char_map: for each position of a passage token, its (start,
            end) in the context; None unless char offsets are used.
    """

    unique_id: int | None
    example_index: int | None
    doc_span_index: int
    tokens: list[str]
    token_to_orig_map: dict[int, int]
    token_is_max_context: dict[int, bool]
    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    start_position: int | None = None
    end_position: int | None = None
    is_impossible: bool | None = None
    token_to_char_map: dict[int, tuple[int, int]] | None = None


@dataclasses.dataclass(frozen=True)
class WindowOptions:
    """How questions and passages become windows.

    Raises:
        ValueError: the lengths leave no room for the passage.
    """

    max_seq_length: int = flag(384, "Length of a window, in WordPieces.")
    doc_stride: int = flag(
        128,
        "WordPieces between the starts of successive windows.",
        at_least=1,
    )
    max_query_length: int = flag(
        64, "Maximum length of the question, in WordPieces.", at_least=1
    )
    use_char_offsets: bool = flag(
        False,
        "Locate answers and predictions by character offset; use this for "
        "scripts without spaces, such as Chinese.",
    )

    def __post_init__(self) -> None:
        """Checks the lengths."""
        if self.max_seq_length <= self.max_query_length + 3:
            raise ValueError(
                f"--max_seq_length={self.max_seq_length} must be more than "
                f"--max_query_length={self.max_query_length} + 3, to leave "
                "room for the passage"
            )
        if self.doc_stride < 1:
            raise ValueError(
                f"doc_stride must be at least 1. Received: {self.doc_stride}"
            )


def create_features(
    examples: Iterable[SquadExample],
    tokenizer: FullTokenizer,
    options: WindowOptions,
    is_training: bool,
) -> Iterator[SquadFeatures]:
    """Yields the SquadFeatures of each window, in order.

    Memory does not grow with the number of windows.

    Args:
        examples: iterable of SquadExamples.
        tokenizer: a FullTokenizer.
        options: WindowOptions.
        is_training: whether answers are looked up.
    """
    windows = create_windows(
        enumerate(examples), tokenizer, options, is_training
    )
    for unique_id, feature in enumerate(windows, FIRST_UNIQUE_ID):
        feature.unique_id = unique_id
        yield feature


def create_windows(
    numbered_examples: Iterable[tuple[int, SquadExample]],
    tokenizer: FullTokenizer,
    options: WindowOptions,
    is_training: bool,
) -> Iterator[SquadFeatures]:
    """Yields the SquadFeatures of (number, example) pairs, ids not set."""
    # Words repeat. The tokenizer caches them too, but only after cleaning.
    tokenize_word = functools.lru_cache(maxsize=2**17)(tokenizer.tokenize)
    find_spans = None
    if options.use_char_offsets:
        find_spans = functools.lru_cache(maxsize=2**16)(
            lambda word: tokenize_with_spans(word, tokenizer)[1]
        )
    for example_index, example in numbered_examples:
        document = _Document(example, tokenizer, tokenize_word, find_spans)
        answer = document.find_answer(example) if is_training else None
        query_tokens = tokenizer.tokenize(example.question_text)
        query_tokens = query_tokens[: options.max_query_length]
        doc_spans = cut_spans(
            len(document.tokens),
            options.max_seq_length - len(query_tokens) - 3,
            options.doc_stride,
        )
        for doc_span_index in range(len(doc_spans)):
            feature = document.create_window(
                query_tokens, doc_spans, doc_span_index
            )
            feature.example_index = example_index
            feature.is_impossible = example.is_impossible
            if is_training:
                _set_answer(feature, answer, doc_spans[doc_span_index])
            padding = [0] * (options.max_seq_length - len(feature.tokens))
            feature.input_ids += padding
            feature.input_mask += padding
            feature.segment_ids += padding
            yield feature


def _set_answer(
    feature: SquadFeatures,
    answer: tuple[int, int] | None,
    doc_span: tuple[int, int],
) -> None:
    """Sets the positions of the answer, 0 if the window lacks it."""
    feature.start_position = feature.end_position = 0
    start, length = doc_span
    if answer and start <= answer[0] and answer[1] < start + length:
        # Position in the window minus token of the passage.
        shift = len(feature.tokens) - 1 - length - start
        feature.start_position = answer[0] + shift
        feature.end_position = answer[1] + shift


class _Document:
    """A passage as tokens, with the place of each in it.

    Args:
        example: a SquadExample.
        tokenizer: a FullTokenizer.
        tokenize_word: its `tokenize`, for a word of the passage.
        find_spans: returns the (start, end) of each token in a word; None if
            not needed.
    """

    def __init__(
        self,
        example: SquadExample,
        tokenizer: FullTokenizer,
        tokenize_word: Callable[[str], list[str]],
        find_spans: Callable[[str], list[tuple[int, int]]] | None,
    ) -> None:
        self.tokenizer = tokenizer
        self.tokens: list[str] = []
        self.tok_to_orig_index: list[int] = []
        self.orig_to_tok_index: list[int] = []
        self.char_spans: list[tuple[int, int]] | None = None
        for i, word in enumerate(example.doc_tokens):
            tokens = tokenize_word(word)
            self.orig_to_tok_index.append(len(self.tokens))
            self.tok_to_orig_index += [i] * len(tokens)
            self.tokens += tokens
        if find_spans:
            self.char_spans = [
                (word.start() + start, word.start() + end)
                for word in WORD.finditer(example.context)
                for start, end in find_spans(word.group())
            ]

    def find_answer(self, example: SquadExample) -> tuple[int, int] | None:
        """Returns the answer's first and last token; None for no answer."""
        if example.is_impossible:
            return None
        text, begin = example.orig_answer_text, example.answer_start
        start, end = example.start_position, example.end_position
        if text is None or begin is None or start is None or end is None:
            raise ValueError(
                f"question {example.qas_id} was read without its answer; to "
                "train, read the file with is_training=True"
            )
        if self.char_spans is not None:
            return _tokens_of_chars(self.char_spans, begin, begin + len(text))
        # Where each word begins, and the passage ends.
        bounds = [*self.orig_to_tok_index, len(self.tokens)]
        return _improve_answer_span(
            self.tokens,
            bounds[start],
            bounds[end + 1] - 1,
            self.tokenizer,
            text,
        )

    def create_window(
        self,
        query_tokens: list[str],
        doc_spans: Sequence[tuple[int, int]],
        doc_span_index: int,
    ) -> SquadFeatures:
        """Returns the SquadFeatures of one window, without padding."""
        start, length = doc_spans[doc_span_index]
        stop = start + length
        first = ["[CLS]", *query_tokens, "[SEP]"]
        tokens = [*first, *self.tokens[start:stop], "[SEP]"]
        positions = range(len(first), len(first) + length)
        is_max_context = _check_is_max_context(
            doc_spans, doc_span_index, np.arange(start, stop)
        ).tolist()
        char_map = None
        if self.char_spans is not None:
            char_map = dict(
                zip(positions, self.char_spans[start:stop], strict=True)
            )
        return SquadFeatures(
            unique_id=None,
            example_index=None,
            doc_span_index=doc_span_index,
            tokens=tokens,
            token_to_orig_map=dict(
                zip(positions, self.tok_to_orig_index[start:stop], strict=True)
            ),
            token_is_max_context=dict(
                zip(positions, is_max_context, strict=True)
            ),
            input_ids=self.tokenizer.convert_tokens_to_ids(tokens),
            input_mask=[1] * len(tokens),
            segment_ids=[0] * len(first) + [1] * (length + 1),
            token_to_char_map=char_map,
        )


def _tokens_of_chars(
    char_spans: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[int, int]:
    """Returns the first and last token that touch the characters."""
    first = bisect.bisect_right(char_spans, start, key=lambda span: span[1])
    last = bisect.bisect_left(char_spans, end, key=lambda span: span[0]) - 1
    return first, last


def _improve_answer_span(
    doc_tokens: list[str],
    input_start: int,
    input_end: int,
    tokenizer: FullTokenizer,
    orig_answer_text: str,
) -> tuple[int, int]:
    """Returns the (first, last) token that match the answer best.

    A passage's words may hold more than the answer: in "(1895-1943)." the
    answer "1895" is the second token alone. If the answer's tokens do not occur
    ("Japan" in "Japanese"), the words are kept.

    Args:
        doc_tokens: list of str, the passage's WordPieces.
        input_start: int, the first token of the answer's words.
        input_end: int, the last token of the answer's words.
        tokenizer: a FullTokenizer.
        orig_answer_text: str.
    """
    answer_tokens = tokenizer.tokenize(orig_answer_text)
    length = len(answer_tokens)
    for start in range(input_start, input_end + 2 - max(length, 1)):
        if doc_tokens[start : start + length] == answer_tokens != []:
            return start, start + length - 1
    return input_start, input_end
