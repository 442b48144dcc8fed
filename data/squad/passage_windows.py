"""Cuts SQuAD's questions and passages into windows that fit the network.

A window is `[CLS] question [SEP] part of the passage [SEP]`. A passage that is
too long for one window is cut into windows that overlap. passage_tokens.py
splits the passages into tokens, and answer_decoding.py turns the network's
outputs for the windows into answers.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypedDict, TypeVar

from data.io import tf_examples
from data.squad.passage_tokens import (
    AnswerTokens,
    Passage,
    PassageTokenizer,
    find_answer_tokens,
)
from data.squad.squad_examples import SquadExample
from data.squad.squad_options import WindowOptions
from data.text.characters import CharacterSpan
from data.text.token_windows import cut_spans, find_max_context_windows
from data.text.tokenization import FullTokenizer

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
        token_to_char_map: {position of a passage token: its characters in the
            passage}. None without --use_char_offsets.
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
    token_to_char_map: dict[int, CharacterSpan] | None = None


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
    token_to_char_map: dict[int, CharacterSpan] | None


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
            positions = None
            if is_training:
                positions = _move_answer(answer, part, num_before)
            yield SquadFeatures(
                unique_id=next(unique_ids),
                example_index=example_index,
                doc_span_index=doc_span_index,
                tokens=tokens,
                **_map_tokens(passage, part, num_before),
                **tokenizer.create_inputs(
                    tokens, num_before, options.max_seq_length
                ),
                start_position=positions and positions.first,
                end_position=positions and positions.last,
                is_impossible=example.is_impossible,
            )


def _cut_passage(
    num_wordpieces: int, num_before: int, options: WindowOptions
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
    doc_spans = cut_spans(num_wordpieces, max_span_length, options.doc_stride)
    best_windows = find_max_context_windows(doc_spans)
    for window_index, (start, length) in enumerate(doc_spans):
        end = start + length
        is_max_context = best_windows[start:end] == window_index
        yield _PassagePart(start, end, is_max_context.tolist())


def _move_answer(
    answer: AnswerTokens | None, part: _PassagePart, num_before: int
) -> AnswerTokens:
    """Returns the tokens of an answer, with their positions in a window.

    The answer is [CLS], at the position 0, if the window does not contain all
    of it. The window contains `num_before` other tokens before its part of the
    passage.

    Examples:
        >>> answer = AnswerTokens(first=5, last=6)
        >>> part = _PassagePart(start=4, end=10, is_max_context=[])
        >>> _move_answer(answer, part, num_before=5)
        AnswerTokens(first=6, last=7)
        >>> part = _PassagePart(start=0, end=6, is_max_context=[])
        >>> _move_answer(answer, part, num_before=5)
        AnswerTokens(first=0, last=0)
    """
    if not answer or answer.first < part.start or answer.last >= part.end:
        return AnswerTokens(0, 0)
    shift = num_before - part.start
    return AnswerTokens(answer.first + shift, answer.last + shift)


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
    values: dict[str, tf_examples.Values] = {}
    if feature.start_position is not None and feature.end_position is not None:
        values["start_positions"] = [feature.start_position]
        values["end_positions"] = [feature.end_position]
        values["is_impossible"] = [int(bool(feature.is_impossible))]
    # Protocol buffers merge the fields of concatenated messages.
    unique_id = tf_examples.encode_example({"unique_ids": [feature.unique_id]})
    return unique_id + tf_examples.encode_inputs(feature, values)
