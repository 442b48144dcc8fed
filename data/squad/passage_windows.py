"""Cuts SQuAD's questions and passages into windows that fit the network.

A window is `[CLS] question [SEP] part of the passage [SEP]`. A passage that is
too long for one window is cut into windows that overlap. squad_questions.py
reads the questions from a file, and answer_decoding.py turns the network's
outputs for the windows into answers.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypedDict, TypeVar

from data.squad.answer_tokens import AnswerTokens, find_answer_tokens
from data.squad.passage_tokens import Passage, PassageTokenizer
from data.squad.squad_examples import SquadExample
from data.squad.squad_features import SquadFeatures
from data.squad.squad_options import WindowOptions
from data.text.token_windows import cut_spans, max_context_windows
from data.text.tokenization import FullTokenizer

ValueT = TypeVar("ValueT")
_FIRST_UNIQUE_ID = 1000000000


class _PassagePart(NamedTuple):
    """The part of a passage that a window contains.

    Attributes:
        start: index of the part's first token.
        stop: index after the part's last token.
        is_max_context: for each token, whether no other window contains more
            context around the token.
    """

    start: int
    stop: int
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
        first = ["[CLS]", *query_tokens[: options.max_query_length], "[SEP]"]
        parts = _cut_passage(len(passage.tokens), len(first), options)
        for doc_span_index, part in enumerate(parts):
            part_tokens = passage.tokens[part.start : part.stop]
            tokens = [*first, *part_tokens, "[SEP]"]
            start_position = None
            end_position = None
            if is_training:
                start_position, end_position = _find_positions(
                    answer, part, len(first)
                )
            yield SquadFeatures(
                unique_id=next(unique_ids),
                example_index=example_index,
                doc_span_index=doc_span_index,
                tokens=tokens,
                **_map_tokens(passage, part, len(first)),
                **tokenizer.create_inputs(
                    tokens, len(first), options.max_seq_length
                ),
                start_position=start_position,
                end_position=end_position,
                is_impossible=example.is_impossible,
            )


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
        stop = start + length
        is_max_context = best_windows[start:stop] == window_index
        yield _PassagePart(start, stop, is_max_context.tolist())


def _map_tokens(
    passage: Passage, part: _PassagePart, num_before: int
) -> _TokenMaps:
    """Returns the maps of the window that contains a part of a passage.

    The window contains `num_before` tokens before the part.
    """
    tokens = slice(part.start, part.stop)
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


def _number_tokens(values: Sequence[ValueT], first: int) -> dict[int, ValueT]:
    """Returns {position of a token: its value}, from the position `first`.

    Examples:
        >>> _number_tokens(["x", "y"], first=5)
        {5: 'x', 6: 'y'}
    """
    return dict(enumerate(values, first))


def _find_positions(
    answer: AnswerTokens | None, part: _PassagePart, num_before: int
) -> tuple[int, int]:
    """Returns the positions of an answer's first and last token in a window.

    The positions are 0 if the window does not contain all of the answer. The
    window contains `num_before` other tokens before its part of the passage.

    Examples:
        >>> answer = AnswerTokens(first=5, last=6)
        >>> _find_positions(answer, _PassagePart(4, 10, []), num_before=5)
        (6, 7)
        >>> _find_positions(answer, _PassagePart(0, 6, []), num_before=5)
        (0, 0)
    """
    if not answer or answer.first < part.start or answer.last >= part.stop:
        return 0, 0
    shift = num_before - part.start
    return answer.first + shift, answer.last + shift
