"""Cuts SQuAD's questions and passages into windows that fit the network.

A window is `[CLS] question [SEP] part of the passage [SEP]`. A passage is split
into WordPieces, which remember their characters in the passage. For training,
those that are the answer are found. A passage that is too long for one window
is cut into windows that overlap. squad_questions.py reads the questions from a
file, and answer_decoding.py turns the network's outputs for the windows into
answers.
"""

import bisect
import dataclasses
import functools
import itertools
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypedDict, TypeVar

import numpy as np

from data.io import tfrecords
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import WindowOptions
from data.text.token_windows import cut_spans, max_context_windows
from data.text.tokenization import BasicTokenizer, FullTokenizer

_ValueT = TypeVar("_ValueT")
_FIRST_UNIQUE_ID = 1000000000


@dataclasses.dataclass(slots=True)
class SquadFeatures:
    """Features of one window.

    Attributes:
        unique_id: number of the window among the windows of all examples. As in
            Google's code, the first number is 1000000000.
        example_index: index of the window's example.
        doc_span_index: index of the window among its example's windows.
        tokens: the WordPieces without padding.
        token_to_orig_map: {position of a passage token in the window: index of
            its word in the passage}.
        token_is_max_context: {position of a passage token in the window:
            whether no other window contains more context around the token}.
        input_ids: [max_seq_length], ids of the WordPieces.
        input_mask: [max_seq_length], 1 = a real token.
        segment_ids: [max_seq_length], 1 = token of the passage, or the [SEP]
            after it.
        start_position, end_position: in training: positions of the answer's
            first and last token, or 0 if the window does not contain it.
        is_impossible: whether the passage does not answer the question.
        token_to_char_map: {position of a passage token: (start, end) of its
            characters in the passage}. None without --use_char_offsets.
    """

    unique_id: int
    example_index: int
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
class Passage:
    """A passage, split into tokens.

    For example, the words "cats run" with the WordPieces `cat ##s run`:

        tokens          cat    ##s    run
        word_of_token   0      0      1
        first_tokens    0             2       3
        char_spans      (0,3)  (3,4)  (5,8)

    Attributes:
        tokens: the WordPieces.
        word_of_token: index of the word that contains each token.
        first_tokens: index of each word's first token, then the number of all
            tokens.
        char_spans: the characters (start, end) of each token. None without
            --use_char_offsets.
    """

    tokens: list[str]
    word_of_token: list[int]
    first_tokens: list[int]
    char_spans: list[tuple[int, int]] | None


class AnswerTokens(NamedTuple):
    """The tokens of a passage that are an answer.

    Attributes:
        first: index of the first token in the passage.
        last: index of the last token.
    """

    first: int
    last: int


class _PassagePart(NamedTuple):
    """The part of a passage that a window contains.

    Attributes:
        start: index of the part's first token.
        end: index after the part's last token.
        is_max_context: for each token, whether no other window contains more
            context around the token.
    """

    start: int
    end: int
    is_max_context: list[bool]


class _TokenMaps(TypedDict):
    """The three entries of `SquadFeatures` about each passage token."""

    token_to_orig_map: dict[int, int]
    token_is_max_context: dict[int, bool]
    token_to_char_map: dict[int, tuple[int, int]] | None


def create_squad_features(
    examples: Iterable[SquadExample],
    tokenizer: FullTokenizer,
    options: WindowOptions,
    is_training: bool,
) -> Iterator[SquadFeatures]:
    """Cuts examples into windows, and yields the SquadFeatures of each window.

    Creates windows one at a time, to save memory. Computes the positions of
    answers only if `is_training` is true.
    """
    passage_tokenizer = PassageTokenizer(tokenizer, options.use_char_offsets)
    unique_ids = itertools.count(_FIRST_UNIQUE_ID)
    for example_index, example in enumerate(examples):
        passage = passage_tokenizer.tokenize(example)
        answer = None
        if is_training and not example.is_impossible:
            answer = find_answer_tokens(example, passage, tokenizer)
        query_tokens = tokenizer.tokenize(example.question_text)
        query_tokens = query_tokens[: options.max_query_length]
        tokens_before = ["[CLS]", *query_tokens, "[SEP]"]
        num_before = len(tokens_before)
        parts = _cut_passage(len(passage.tokens), num_before, options)
        for doc_span_index, part in enumerate(parts):
            part_tokens = passage.tokens[part.start : part.end]
            tokens = [*tokens_before, *part_tokens, "[SEP]"]
            start_position = None
            end_position = None
            if is_training:
                start_position, end_position = _compute_answer_positions(
                    answer, part, num_before
                )
            yield SquadFeatures(
                unique_id=next(unique_ids),
                example_index=example_index,
                doc_span_index=doc_span_index,
                tokens=tokens,
                **_map_tokens(passage, part, num_before),
                **tokenizer.create_inputs(
                    tokens, num_before, options.max_seq_length
                ),
                start_position=start_position,
                end_position=end_position,
                is_impossible=example.is_impossible,
            )


class PassageTokenizer:
    """Splits the passages of examples into tokens.

    The class caches the WordPieces of each word, because words repeat. The
    tokenizer's own cache saves less time, because the tokenizer first cleans
    the text.

    Args:
        tokenizer: the tokenizer of the model.
        use_char_offsets: whether to find the characters of each token.
    """

    def __init__(
        self, tokenizer: FullTokenizer, use_char_offsets: bool
    ) -> None:
        self._use_char_offsets = use_char_offsets
        self._tokenize_word = functools.lru_cache(maxsize=2**17)(
            tokenizer.tokenize
        )
        self._char_spans_of = functools.lru_cache(maxsize=2**16)(
            lambda word: tokenize_with_spans(word, tokenizer)[1]
        )

    def tokenize(self, example: SquadExample) -> Passage:
        """Splits the passage of an example into tokens."""
        words = [*map(self._tokenize_word, example.doc_tokens)]
        lengths = [*map(len, words)]
        char_spans = None
        if self._use_char_offsets:
            char_spans = [
                (word.start() + start, word.start() + end)
                for word in WORD.finditer(example.context)
                for start, end in self._char_spans_of(word.group())
            ]
        return Passage(
            tokens=[*itertools.chain.from_iterable(words)],
            word_of_token=np.repeat(range(len(words)), lengths).tolist(),
            first_tokens=[*itertools.accumulate(lengths, initial=0)],
            char_spans=char_spans,
        )


def tokenize_with_spans(
    text: str, tokenizer: FullTokenizer
) -> tuple[list[str], list[tuple[int, int]]]:
    """Tokenizes a text, and finds the characters of each token.

        "Škoda (1895)" -> sko   ##da   (      1895    )
                          (0,3) (3,5) (6,7) (7,11) (11,12)

    Returns:
        (tokens, spans). `tokens` is a list of WordPieces. `spans` contains the
        (start, end) of each WordPiece in `text`. If a WordPiece ends with a
        letter that combining accents follow, its span includes them.
    """
    basic = tokenizer.basic_tokenizer
    # Tokenizing a whole text, or each of its characters separately, results in
    # the same string once the tokens are joined. So `origin` can list, for each
    # character of the joined tokens, the index of its source in `text`.
    origin = [
        index
        for index, char in enumerate(text)
        for _ in itertools.chain.from_iterable(basic.tokenize(char))
    ]
    tokens = []
    spans = []
    position = 0
    for word in basic.tokenize(text):
        for token in tokenizer.wordpiece_tokenizer.tokenize(word):
            is_unknown = token == tokenizer.wordpiece_tokenizer.unk_token
            length = len(word if is_unknown else token.removeprefix("##"))
            end = origin[position + length - 1] + 1
            end = _skip_accents(text, end, basic)
            tokens.append(token)
            spans.append((origin[position], end))
            position += length
    return tokens, spans


def _skip_accents(text: str, start: int, tokenizer: BasicTokenizer) -> int:
    """Returns the first place from `start` without a dropped accent."""
    end = start
    while (
        end < len(text)
        and unicodedata.category(text[end]) == "Mn"
        and not tokenizer.tokenize(text[end])
    ):
        end += 1
    return end


def find_answer_tokens(
    example: SquadExample, passage: Passage, tokenizer: FullTokenizer
) -> AnswerTokens:
    """Finds the first and the last token of an example's answer in a passage.

    With `char_spans`, the tokens are all that overlap the answer's characters.
    Without them, the words around the answer are searched for its WordPieces,
    as in Google's `_improve_answer_span`.
    """
    if passage.char_spans is not None:
        return _find_answer_by_chars(example, passage.char_spans)
    return _find_answer_in_words(example, passage, tokenizer)


def _find_answer_by_chars(
    example: SquadExample, char_spans: list[tuple[int, int]]
) -> AnswerTokens:
    """Finds all tokens that overlap the answer's characters."""
    start = example.answer_start
    end = start + len(example.orig_answer_text)
    first = bisect.bisect_right(char_spans, start, key=lambda span: span[1])
    end_token = bisect.bisect_left(char_spans, end, key=lambda span: span[0])
    return AnswerTokens(first, end_token - 1)


def _find_answer_in_words(
    example: SquadExample, passage: Passage, tokenizer: FullTokenizer
) -> AnswerTokens:
    """Finds the answer's WordPieces among those of the words around it.

        question:    What year was John Smith born?
        answer:      1895
        words:       The leader was John Smith   (1895-1943).
        WordPieces:  the leader was john smith ( 1895 - 1943 ) .
                                                 ^^^^

    The word of the answer is "(1895-1943).", and its WordPieces contain the
    answer. But the WordPieces of "Japanese" do not contain "japan". If "Japan"
    is the answer, the complete word "Japanese" is the result.
    """
    words_first = passage.first_tokens[example.start_position]
    words_last = passage.first_tokens[example.end_position + 1] - 1
    answer_tokens = tokenizer.tokenize(example.orig_answer_text)
    length = len(answer_tokens)
    if length:
        for first in range(words_first, words_last + 2 - length):
            if passage.tokens[first : first + length] == answer_tokens:
                return AnswerTokens(first, first + length - 1)
    return AnswerTokens(words_first, words_last)


def _cut_passage(
    num_tokens: int, num_before: int, options: WindowOptions
) -> Iterator[_PassagePart]:
    """Yields the part of a passage that each window contains.

    A window contains `num_before` tokens before its part, and one token after
    the part.

    For example, windows of 12 tokens, 5 of them before the part, contain 6
    tokens of a passage of 10. For doc_stride=4, the parts are as follows, where
    1 means most context:

        passage    a b c d e f g h i j
        (0, 6)     1 1 1 1 1 0
        (4, 10)            0 1 1 1 1 1
    """
    max_span_length = options.max_seq_length - num_before - 1
    doc_spans = cut_spans(num_tokens, max_span_length, options.doc_stride)
    best_windows = max_context_windows(doc_spans)
    for window_index, (start, length) in enumerate(doc_spans):
        end = start + length
        is_max_context = best_windows[start:end] == window_index
        yield _PassagePart(start, end, is_max_context.tolist())


def _compute_answer_positions(
    answer: AnswerTokens | None, part: _PassagePart, num_before: int
) -> tuple[int, int]:
    """Returns the positions of an answer's first and last token in a window.

    The positions are 0 if the window does not contain all of the answer. The
    window contains `num_before` other tokens before its part of the passage.

    Examples:
        >>> answer = AnswerTokens(first=5, last=6)
        >>> part = _PassagePart(start=4, end=10, is_max_context=[])
        >>> _compute_answer_positions(answer, part, num_before=5)
        (6, 7)
        >>> part = _PassagePart(start=0, end=6, is_max_context=[])
        >>> _compute_answer_positions(answer, part, num_before=5)
        (0, 0)
    """
    if not answer or answer.first < part.start or answer.last >= part.end:
        return 0, 0
    shift = num_before - part.start
    return answer.first + shift, answer.last + shift


def _map_tokens(
    passage: Passage, part: _PassagePart, num_before: int
) -> _TokenMaps:
    """Returns the maps of the window that contains a part of a passage.

    The window contains `num_before` tokens before the part.
    """
    tokens = slice(part.start, part.end)
    token_to_char_map = None
    if passage.char_spans is not None:
        token_to_char_map = _number_tokens(
            passage.char_spans[tokens], num_before
        )
    return {
        "token_to_orig_map": _number_tokens(
            passage.word_of_token[tokens], num_before
        ),
        "token_is_max_context": _number_tokens(part.is_max_context, num_before),
        "token_to_char_map": token_to_char_map,
    }


def _number_tokens(values: Sequence[_ValueT], first: int) -> dict[int, _ValueT]:
    """Returns {position of a token: its value}, from the position `first`.

    Examples:
        >>> _number_tokens(["x", "y"], first=5)
        {5: 'x', 6: 'y'}
    """
    return dict(enumerate(values, first))


def encode_squad_features(feature: SquadFeatures) -> bytes:
    """Serializes SquadFeatures as a tf.train.Example."""
    values: dict[str, tfrecords.Values] = {}
    if feature.start_position is not None and feature.end_position is not None:
        values["start_positions"] = [feature.start_position]
        values["end_positions"] = [feature.end_position]
        values["is_impossible"] = [int(bool(feature.is_impossible))]
    # Protocol buffers merge the fields of concatenated messages.
    unique_id = tfrecords.encode_example({"unique_ids": [feature.unique_id]})
    return unique_id + tfrecords.encode_inputs(feature, values)
