"""Turns the network's start and end logits into answers to SQuAD's questions.

token_spans.py finds the spans that may answer a question, in all its windows.
This module sorts the spans by the sum of their logits, and chooses among the
best ones. final_text.py finds these in the passage's own spelling.
"""

import collections
import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Self, TypedDict

from data.squad.final_text import PassageWords, find_final_text, read_words
from data.squad.passage_windows import SquadFeatures
from data.squad.squad_examples import WORD, SquadExample
from data.squad.squad_options import DecodingOptions
from data.squad.token_spans import (
    NULL_ODDS_WITHOUT_ANSWER,
    RawResult,
    TokenSpan,
    list_spans,
)
from data.text.tokenization import BasicTokenizer


class NbestEntry(TypedDict):
    """A possible answer, as nbest_predictions.json lists it."""

    text: str
    probability: float
    start_logit: float
    end_logit: float


class SquadAnswers(NamedTuple):
    """The answers to questions, in dicts whose keys are question ids.

    Attributes:
        texts: text of each answer.
        nbest: n-best list of each question, best entry first.
        null_odds: score of no answer minus the best answer's score, only for
            SQuAD v2.0.
    """

    texts: dict[str, str]
    nbest: dict[str, list[NbestEntry]]
    null_odds: dict[str, float]


def decode_predictions(
    all_examples: Iterable[SquadExample],
    all_features: Iterable[SquadFeatures],
    all_results: Iterable[RawResult],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> SquadAnswers:
    """Turns the logits of all windows into answers to all questions.

    Args:
        all_examples: the questions.
        all_features: the windows of all questions. If the windows contain
            character offsets, the offsets locate answers in the passage.
        all_results: the logits of each window, in any order.
        options: options for choosing answers from the logits.
        tokenizer: tokenizer of the model, which maps answers to the passage's
            spelling if there are no character offsets.
    """
    result_of_id = {result.unique_id: result for result in all_results}
    features_of_example = collections.defaultdict(list)
    for feature in all_features:
        features_of_example[feature.example_index].append(feature)

    answers = SquadAnswers({}, {}, {})
    for example_index, example in enumerate(all_examples):
        features = features_of_example.pop(example_index, [])
        answer = decode_question(
            example, features, result_of_id, options, tokenizer
        )
        answers.texts[example.qas_id] = answer.nbest[answer.chosen_index].text
        if options.version_2_with_negative:
            answers.null_odds[example.qas_id] = answer.null_odds
        answers.nbest[example.qas_id] = with_probabilities(answer.nbest)
    return answers


class Candidate(NamedTuple):
    """A possible answer to a question.

    Attributes:
        text: the answer, "" for no answer.
        start: index in the passage of the answer's first character.
        end: index after its last character. Both are -1 if the answer is not in
            the passage, such as no answer.
        start_logit, end_logit: logits of the answer's first and last token.
    """

    text: str
    start: int
    end: int
    start_logit: float
    end_logit: float

    @classmethod
    def outside_passage(
        cls, text: str, start_logit: float, end_logit: float
    ) -> Self:
        """Creates an answer that is not in the passage."""
        return cls(text, -1, -1, start_logit, end_logit)

    @property
    def is_in_passage(self) -> bool:
        """Whether the answer is a part of the passage."""
        return self.start >= 0

    @property
    def score(self) -> float:
        """The sum of the two logits."""
        return self.start_logit + self.end_logit


class RankedCandidates(NamedTuple):
    """The best candidates for the answer to a question.

    Attributes:
        nbest: the candidates, best first. There is at least one candidate.
        chosen_index: index in `nbest` of the predicted answer.
        null_odds: score of no answer minus score of the best answer.
    """

    nbest: list[Candidate]
    chosen_index: int
    null_odds: float


def decode_question(
    example: SquadExample,
    features: list[SquadFeatures],
    result_of_id: Mapping[int, RawResult],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> RankedCandidates:
    """Chooses the answer to one question from the logits of its windows.

    Args:
        example: the question.
        features: windows of the question.
        result_of_id: {`unique_id` of a window: its logits}.
        options: options for choosing answers from the logits.
        tokenizer: tokenizer of the model, which maps answers to the passage's
            spelling if there are no character offsets.
    """
    spans, null, null_score = list_spans(features, result_of_id, options)
    if options.version_2_with_negative:
        spans.append(null)
    spans.sort(key=operator.attrgetter("score"), reverse=True)
    nbest = _create_nbest(spans, example, options, tokenizer)
    has_null = any(not candidate.text for candidate in nbest)
    if options.version_2_with_negative and not has_null:
        nbest.append(
            Candidate.outside_passage("", null.start_logit, null.end_logit)
        )
    nbest = nbest or [Candidate.outside_passage("empty", 0.0, 0.0)]
    return _choose_answer(nbest, null_score, options)


def _create_nbest(
    spans: Iterable[TokenSpan],
    example: SquadExample,
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> list[Candidate]:
    """Returns the best spans with distinct texts, at most `n_best_size`.

    `spans` are sorted, best first.
    """
    word_starts = [word.start() for word in WORD.finditer(example.context)]

    # Of a word of many characters, thousands of spans may be candidates.
    @functools.lru_cache(maxsize=64)
    def read_words_between(first: int, last: int) -> PassageWords:
        return read_words(example, word_starts, first, last, tokenizer)

    nbest: list[Candidate] = []
    for span in spans:
        candidate = _create_candidate(
            span, example, read_words_between, options.verbose_logging
        )
        # Skip a text that is already in the list. Always add "no answer".
        is_new = all(candidate.text != listed.text for listed in nbest)
        if is_new or not candidate.is_in_passage:
            nbest.append(candidate)
            if len(nbest) >= options.n_best_size:
                break
    return nbest


def _create_candidate(
    span: TokenSpan,
    example: SquadExample,
    read_words_between: Callable[[int, int], PassageWords],
    verbose_logging: bool,
) -> Candidate:
    """Finds the text of a span."""
    feature, first, last, *logits = span
    if feature is None or first == 0:
        return Candidate.outside_passage("", *logits)
    if feature.token_to_char_map is not None:
        start = feature.token_to_char_map[first].start
        end = feature.token_to_char_map[last].end
        return Candidate(example.context[start:end], start, end, *logits)
    tok_text = " ".join(feature.tokens[first : last + 1])
    tok_text = tok_text.replace(" ##", "").replace("##", "")
    words = read_words_between(
        feature.token_to_orig_map[first], feature.token_to_orig_map[last]
    )
    start, end = find_final_text(
        " ".join(tok_text.split()), words, verbose_logging=verbose_logging
    )
    return Candidate(
        words.text[start:end],
        words.sources[start],
        words.sources[end - 1] + 1,
        *logits,
    )


def _choose_answer(
    nbest: list[Candidate], null_score: float, options: DecodingOptions
) -> RankedCandidates:
    """Chooses between the best answer and "no answer".

    `null_score` is the score of no answer.
    """
    # These values remain if "no answer" is the only candidate. Google's code
    # fails in this case.
    chosen_index = 0
    null_odds = NULL_ODDS_WITHOUT_ANSWER
    for index, candidate in enumerate(nbest):
        if candidate.text and candidate.is_in_passage:
            chosen_index = index
            null_odds = null_score - candidate.start_logit - candidate.end_logit
            break
    threshold = options.null_score_diff_threshold
    if options.version_2_with_negative and null_odds > threshold:
        texts = [candidate.text for candidate in nbest]
        chosen_index = texts.index("")
    return RankedCandidates(nbest, chosen_index, null_odds)


def with_probabilities(nbest: list[Candidate]) -> list[NbestEntry]:
    """Converts a question's n-best list to entries for nbest_predictions.json.

    The probabilities are the softmax of the scores in the list.
    """
    scores = [candidate.score for candidate in nbest]
    exponentials = [math.exp(score - max(scores)) for score in scores]
    total = sum(exponentials)
    return [
        {
            "text": candidate.text,
            "probability": exponential / total,
            "start_logit": candidate.start_logit,
            "end_logit": candidate.end_logit,
        }
        for candidate, exponential in zip(nbest, exponentials, strict=True)
    ]
