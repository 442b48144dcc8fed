"""Turns the network's start and end logits into answers to SQuAD's questions.

Each window contributes its n best starts and n best ends. All valid pairs of a
start and an end, from all windows of a question, are sorted by the sum of their
logits. The best pairs are then mapped back to the text of the passage.
"""

import collections
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from absl import logging

from data.squad.options import DecodingOptions
from data.squad.passage_windows import SquadFeatures
from data.squad.reading import WORD, SquadExample
from data.text.tokenization import BasicTokenizer


class RawResult(NamedTuple):
    """The network's outputs for a window."""

    unique_id: int
    start_logits: np.ndarray
    end_logits: np.ndarray


class NbestEntry(TypedDict):
    """A possible answer, as nbest_predictions.json lists it."""

    text: str
    probability: float
    start_logit: float
    end_logit: float


# Score of no answer minus score of the best answer, for a question whose only
# candidate is "no answer".
NO_ANSWER_SCORE_DIFF = 1000000.0


class Span(NamedTuple):
    """The tokens of a window that may be the answer.

    Attributes:
        feature: the window, None for "no answer" of a question without windows.
        start_index: index in the window of the first token.
        end_index: index of the last token. Both are 0, that of [CLS], for no
            answer.
        start_logit: logit of the first token.
        end_logit: logit of the last token.
    """

    feature: SquadFeatures | None
    start_index: int
    end_index: int
    start_logit: float
    end_logit: float


# Three dicts whose keys are question ids. The first contains the text of each
# answer, the second the n-best lists, best entry first, and the third, only for
# SQuAD v2.0, the score of no answer minus the best answer's score.
Answers = tuple[dict[str, str], dict[str, list[NbestEntry]], dict[str, float]]


def decode_predictions(
    all_examples: Iterable[SquadExample],
    all_features: Iterable[SquadFeatures],
    all_results: Iterable[RawResult],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> Answers:
    """Turns the logits of all windows into answers to all questions.

    Args:
        all_examples: the questions.
        all_features: the windows of all questions. If they contain character
            offsets, these offsets locate answers in the passage.
        all_results: one RawResult for each window, in any order.
        options: options for choosing answers from the logits.
        tokenizer: BasicTokenizer of the model. `find_final_text` uses it to map
            answers to the passage's spelling, if there are no character
            offsets.

    Returns:
        the three dicts that the comment on `Answers` describes.
    """
    result_of = {result.unique_id: result for result in all_results}
    features_of = collections.defaultdict(list)
    for feature in all_features:
        features_of[feature.example_index].append(feature)

    predictions = {}
    all_nbest = {}
    score_diffs = {}
    for example_index, example in enumerate(all_examples):
        features = features_of.pop(example_index, [])
        answer = decode_question(
            example, features, result_of, options, tokenizer
        )
        predictions[example.qas_id] = answer.nbest[answer.chosen].text
        if options.version_2_with_negative:
            score_diffs[example.qas_id] = answer.score_diff
        all_nbest[example.qas_id] = with_probabilities(answer.nbest)
    return predictions, all_nbest, score_diffs


class Candidate(NamedTuple):
    """A possible answer to a question.

    Attributes:
        text: the answer, "" for no answer.
        start: index in the passage of the answer's first character.
        end: index after its last character. Both are -1 for no answer.
        start_logit, end_logit: logits of the answer's first and last token.
    """

    text: str
    start: int
    end: int
    start_logit: float
    end_logit: float


class Answer(NamedTuple):
    """The best candidates for the answer to a question.

    Attributes:
        nbest: list of Candidates, best first, never empty.
        chosen: index in `nbest` of the predicted answer.
        score_diff: score of no answer minus score of the best answer.
    """

    nbest: list[Candidate]
    chosen: int
    score_diff: float


def decode_question(
    example: SquadExample,
    features: list[SquadFeatures],
    result_of: Mapping[int, RawResult],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> Answer:
    """Chooses the answer to one question from the logits of its windows.

    Args:
        example: the question.
        features: windows of the question.
        result_of: {`unique_id` of a window: its logits}.
        options: options for choosing answers from the logits.
        tokenizer: BasicTokenizer, as in `decode_predictions`.
    """
    is_v2 = options.version_2_with_negative
    spans, null, null_score = _example_spans(features, result_of, options)
    if is_v2:
        spans.append(null)
    spans.sort(key=_score, reverse=True)
    word_starts = [word.start() for word in WORD.finditer(example.context)]

    # Of a word of many characters, thousands of spans may be candidates.
    @functools.lru_cache(maxsize=64)
    def read_words(first: int, last: int) -> Words:
        return _read_words(example, word_starts, first, last, tokenizer)

    nbest: list[Candidate] = []
    for span in spans:
        candidate = _create_candidate(
            span, example, read_words, options.verbose_logging
        )
        # Skip a text that is already in the list. Always add "no answer".
        is_new = all(candidate.text != each.text for each in nbest)
        if candidate.start < 0 or is_new:
            nbest.append(candidate)
            if len(nbest) >= options.n_best_size:
                break
    if is_v2 and all(each.text for each in nbest):
        nbest.append(Candidate("", -1, -1, null.start_logit, null.end_logit))
    nbest = nbest or [Candidate("empty", -1, -1, 0.0, 0.0)]
    # These values remain if "no answer" is the only candidate. Google's code
    # fails in this case.
    chosen = 0
    score_diff = NO_ANSWER_SCORE_DIFF
    for index, each in enumerate(nbest):
        if each.text and each.start >= 0:
            chosen = index
            score_diff = null_score - each.start_logit - each.end_logit
            break
    if is_v2 and score_diff > options.null_score_diff_threshold:
        chosen = next(i for i, each in enumerate(nbest) if not each.text)
    return Answer(nbest, chosen, score_diff)


def _example_spans(
    features: list[SquadFeatures],
    result_of: Mapping[int, RawResult],
    options: DecodingOptions,
) -> tuple[list[Span], Span, float]:
    """Returns (possible answers, span of "no answer", its score).

    The span of "no answer" contains only [CLS], in the window where [CLS] has
    the lowest score.
    """
    spans = []
    null = Span(None, 0, 0, 0.0, 0.0)
    null_score = NO_ANSWER_SCORE_DIFF
    for feature in features:
        result = result_of[feature.unique_id]
        length = len(feature.tokens) if options.trim_padding else None
        start_logits, end_logits = (
            np.asarray(logits[:length], np.float64) for logits in result[1:]
        )
        # Find the positions of the highest logits, best first. Of two equal
        # logits, the earlier one comes first.
        starts, ends = (
            np.argsort(-logits, kind="stable")[: options.n_best_size].tolist()
            for logits in (start_logits, end_logits)
        )
        start_logits = start_logits.tolist()
        end_logits = end_logits.tolist()
        spans += [
            Span(feature, start, end, start_logits[start], end_logits[end])
            for start in starts
            # If several windows contain a token, let answers start at it only
            # in the window with the most context around it.
            if feature.token_is_max_context.get(start, False)
            for end in ends
            if end in feature.token_to_orig_map
            and start <= end < start + options.max_answer_length
        ]
        cls = Span(feature, 0, 0, start_logits[0], end_logits[0])
        if _score(cls) < null_score:
            null = cls
            null_score = _score(cls)
    return spans, null, null_score


def _score(answer: Span | Candidate) -> float:
    return answer.start_logit + answer.end_logit


def with_probabilities(nbest: list[Candidate]) -> list[NbestEntry]:
    """Converts a question's n-best list to entries for nbest_predictions.json.

    The probabilities are the softmax of the scores in the list.
    """
    scores = [*map(_score, nbest)]
    exponentials = [math.exp(score - max(scores)) for score in scores]
    total = sum(exponentials)
    return [
        {
            "text": each.text,
            "probability": exponential / total,
            "start_logit": each.start_logit,
            "end_logit": each.end_logit,
        }
        for each, exponential in zip(nbest, exponentials, strict=True)
    ]


class Tokenized(NamedTuple):
    """A text as the tokenizer normalizes it.

    Attributes:
        text: the words, joined by spaces.
        places: for each character of `text` but spaces, its index in the
            original text. None if their numbers of characters differ.
    """

    text: str
    places: list[int] | None


class Words(NamedTuple):
    """Successive words of a passage.

    Attributes:
        text: the words, joined by spaces.
        tokenized: the same words as the tokenizer normalizes them.
        places: for each character of `text`, its index in the passage. A space
            follows each word.
    """

    text: str
    tokenized: Tokenized
    places: list[int]


def _read_words(
    example: SquadExample,
    word_starts: Sequence[int],
    first: int,
    last: int,
    tokenizer: BasicTokenizer,
) -> Words:
    """Returns the words from index `first` to `last`.

    `word_starts` contains the index of each word's first character in the
    passage.
    """
    words = example.doc_tokens[first : last + 1]
    text = " ".join(words)
    places = [
        index
        for word, begin in zip(
            words, word_starts[first : last + 1], strict=True
        )
        for index in range(begin, begin + len(word) + 1)
    ]
    return Words(text, _tokenize(text, tokenizer), places)


def _create_candidate(
    span: Span,
    example: SquadExample,
    read_words: Callable[[int, int], Words],
    verbose_logging: bool,
) -> Candidate:
    """Finds the text of a span."""
    feature, start, end, *logits = span
    if feature is None or start == 0:
        return Candidate("", -1, -1, *logits)
    if feature.token_to_char_map is not None:
        first = feature.token_to_char_map[start][0]
        stop = feature.token_to_char_map[end][1]
        return Candidate(example.context[first:stop], first, stop, *logits)
    tok_text = " ".join(feature.tokens[start : end + 1])
    tok_text = tok_text.replace(" ##", "").replace("##", "")
    text, tokenized, places = read_words(
        feature.token_to_orig_map[start], feature.token_to_orig_map[end]
    )
    first, stop = _find_tokenized(
        " ".join(tok_text.split()), text, tokenized, verbose_logging
    )
    return Candidate(
        text[first:stop], places[first], places[stop - 1] + 1, *logits
    )


def _tokenize(orig_text: str, tokenizer: BasicTokenizer) -> Tokenized:
    tok_text = " ".join(tokenizer.tokenize(orig_text))
    places = [i for i, char in enumerate(orig_text) if char != " "]
    is_same = len(tok_text) - tok_text.count(" ") == len(places)
    return Tokenized(tok_text, places if is_same else None)


def find_final_text(
    pred_text: str,
    orig_text: str,
    tokenizer: BasicTokenizer,
    verbose_logging: bool = False,
) -> tuple[int, int]:
    """Finds a predicted text in the passage's own spelling (get_final_text).

    For example, if "steve smith" is predicted and the passage contains "Steve
    Smith's", the result is the place of "Steve Smith". The function matches the
    characters of the tokenized words one to one with the characters of the
    passage, ignoring spaces. If this fails, the result is all of `orig_text`.

    Args:
        pred_text: predicted WordPieces joined to words, with single spaces
            between the words.
        orig_text: words of the passage that contain these WordPieces.
        tokenizer: tokenizer that normalizes words as in `pred_text`.
        verbose_logging: whether to log texts that cannot be matched.

    Returns:
        (start, end) in `orig_text`, in characters.
    """
    tokenized = _tokenize(orig_text, tokenizer)
    return _find_tokenized(pred_text, orig_text, tokenized, verbose_logging)


def _find_tokenized(
    pred_text: str, orig_text: str, tokenized: Tokenized, verbose_logging: bool
) -> tuple[int, int]:
    """Finds a text as `find_final_text` does, in a text already tokenized."""
    tok_text, places = tokenized
    start = tok_text.find(pred_text)
    if start == -1:
        failure = "Unable to find text"
    elif places is None:
        failure = "Length not equal after stripping spaces"
    # Only characters other than spaces have a position in `orig_text`, so the
    # prediction must begin and end with such a character.
    elif not pred_text or pred_text != pred_text.strip(" "):
        failure = "Couldn't map start or end position"
    else:
        end = start + len(pred_text) - 1
        first = start - tok_text.count(" ", 0, start)
        last = end - tok_text.count(" ", 0, end)
        return places[first], places[last] + 1
    if verbose_logging:
        logging.info("%s: '%s' in '%s'", failure, pred_text, orig_text)
    return 0, len(orig_text)
