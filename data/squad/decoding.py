"""Turns the network's start and end logits into answers, for SQuAD.

Each window contributes its n best starts and n best ends. All valid pairs of a
start and an end, from all windows of a question, are sorted by the sum of their
logits. The best pairs are then mapped back to the text of the passage.
"""

import collections
import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from data.squad.reading import SquadExample
from data.squad.windows import SquadFeatures
from data.text.tokenization import BasicTokenizer
from files import flags

RawResult = collections.namedtuple(
    "RawResult", ["unique_id", "start_logits", "end_logits"]
)

# Score difference to write if "no answer" is the only candidate.
NO_ANSWER_SCORE_DIFF = 1000000.0

Span = collections.namedtuple(
    "Span", ["feature", "start_index", "end_index", "start_logit", "end_logit"]
)
_NOTHING = Span(None, 0, 0, 0.0, 0.0)

# Three dicts by question id: the answer's text, the n-best list of entries with
# `text`, `probability`, `start_logit` and `end_logit`, best first, and (only in
# v2.0) the score of no answer minus the score of the best answer.
Answers = tuple[dict[str, str], dict[str, list[dict]], dict[str, float]]


@dataclasses.dataclass(frozen=True)
class DecodingOptions:
    """Options that determine how answers are chosen by their logits."""

    n_best_size: int = flags.decoding(
        20,
        "Number of answers to each question in nbest_predictions.json.",
        at_least=1,
    )
    max_answer_length: int = flags.decoding(
        30, "Maximum length of an answer, in WordPieces.", at_least=1
    )
    version_2_with_negative: bool = flags.head(
        False, "Use SQuAD v2.0, where some questions have no answer."
    )
    null_score_diff_threshold: float = flags.decoding(
        0.0,
        "Predict no answer if the score of no answer exceeds the score of the "
        "best answer by more than this number.",
    )
    verbose_logging: bool = flags.neutral(
        False, "Log answers that cannot be aligned."
    )
    # Whether to ignore the logits of padding. Google's code does not.
    trim_padding: bool = False


def decode_predictions(
    all_examples: Iterable[SquadExample],
    all_features: Iterable[SquadFeatures],
    all_results: Iterable[RawResult],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> Answers:
    """Decodes each question's best answer, n-best list and no-answer score.

    The features are the windows in the order of the examples. The function
    reads them once. If features contain character offsets, answers are cut out
    of the passage at these offsets. The results contain one RawResult for each
    window, in any order.

    Raises:
        ValueError: a window has no result, or is not in order.
    """
    result_of = {result.unique_id: result for result in all_results}
    # Collect the features of one example at a time, to limit memory.
    groups = itertools.groupby(
        all_features, lambda feature: feature.example_index
    )
    group = next(groups, None)

    predictions, all_nbest, score_diffs = {}, {}, {}
    for example_index, example in enumerate(all_examples):
        features = []
        if group and group[0] == example_index:
            features = list(group[1])
            group = next(groups, None)
        answer = decode_question(
            example, features, result_of, options, tokenizer
        )
        predictions[example.qas_id] = answer.nbest[answer.chosen][0]
        if options.version_2_with_negative:
            score_diffs[example.qas_id] = answer.score_diff
        all_nbest[example.qas_id] = with_probabilities(answer.nbest)
    if group:
        raise ValueError(
            "the features must be in the order of the examples; the features "
            f"of example {group[0]} are out of order"
        )
    return predictions, all_nbest, score_diffs


class Answer(NamedTuple):
    """The answer to a question.

    Attributes:
        nbest: list of (text, Span), best first, never empty.
        chosen: index of the answer in `nbest`.
        score_diff: score of no answer minus score of the best answer.
    """

    nbest: list[tuple[str, Span]]
    chosen: int
    score_diff: float


def decode_question(
    example: SquadExample,
    features: list[SquadFeatures],
    result_of: Mapping[Any, RawResult],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> Answer:
    """Decodes the Answer to one question, as `decode_predictions` does.

    Raises:
        ValueError: a feature has no result.
    """
    is_v2 = options.version_2_with_negative
    spans, null, null_score = _example_spans(features, result_of, options)
    if is_v2:
        spans.append(null)
    spans.sort(key=_score, reverse=True)
    nbest, texts = [], set()
    for span in spans:
        text = _answer_text(span, example, options, tokenizer)
        # Drop repeated texts, except the empty text.
        if span.start_index == 0 or text not in texts:
            texts.add(text)
            nbest.append((text, span))
            if len(nbest) >= options.n_best_size:
                break
    if is_v2 and all(text for text, _ in nbest):
        nbest.append(("", null))
    nbest = nbest or [("empty", _NOTHING)]
    # Google's code fails if "no answer" is the only candidate.
    chosen, score_diff = 0, NO_ANSWER_SCORE_DIFF
    for index, (text, span) in enumerate(nbest):
        if text and span.start_index:
            chosen = index
            score_diff = null_score - span.start_logit - span.end_logit
            break
    if is_v2 and score_diff > options.null_score_diff_threshold:
        chosen = next(i for i, (text, _) in enumerate(nbest) if not text)
    return Answer(nbest, chosen, score_diff)


def _example_spans(
    features: list[SquadFeatures],
    result_of: Mapping[Any, RawResult],
    options: DecodingOptions,
) -> tuple[list[Span], Span, float]:
    """Returns (spans of answers, span of no answer, score of no answer).

    "No answer" is the span that contains only [CLS], in the window with the
    lowest score of [CLS].
    """
    spans = []
    null, null_score = _NOTHING, NO_ANSWER_SCORE_DIFF
    for feature in features:
        try:
            result = result_of[feature.unique_id]
        except KeyError:
            raise ValueError(
                f"there is no result for the window {feature.unique_id}; "
                "predict all windows of the examples"
            ) from None
        length = len(feature.tokens) if options.trim_padding else None
        start_logits, end_logits = (
            np.asarray(logits[:length], np.float64) for logits in result[1:]
        )
        # Sort by the highest logits. Ties keep their order.
        starts, ends = (
            np.argsort(-logits, kind="stable")[: options.n_best_size].tolist()
            for logits in (start_logits, end_logits)
        )
        start_logits, end_logits = start_logits.tolist(), end_logits.tolist()
        spans += [
            Span(feature, start, end, start_logits[start], end_logits[end])
            for start in starts
            # If several windows contain a token, it starts answers in only
            # one window.
            if feature.token_is_max_context.get(start, False)
            for end in ends
            if end in feature.token_to_orig_map
            and start <= end < start + options.max_answer_length
        ]
        cls = Span(feature, 0, 0, start_logits[0], end_logits[0])
        if _score(cls) < null_score:
            null, null_score = cls, _score(cls)
    return spans, null, null_score


def _score(span: Span) -> float:
    return span.start_logit + span.end_logit


def with_probabilities(nbest: list[tuple[str, Span]]) -> list[dict]:
    """Returns the entries of nbest_predictions.json for one question."""
    scores = [_score(span) for _, span in nbest]
    exponentials = [math.exp(score - max(scores)) for score in scores]
    total = sum(exponentials)
    return [
        {
            "text": text,
            "probability": exponential / total,
            "start_logit": span.start_logit,
            "end_logit": span.end_logit,
        }
        for (text, span), exponential in zip(nbest, exponentials, strict=True)
    ]


def _answer_text(
    span: Span,
    example: SquadExample,
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> str:
    """Returns a span's text, as spelled in the passage."""
    feature, start, end = span[:3]
    if start == 0:
        return ""
    if feature.token_to_char_map is not None:
        first_char = feature.token_to_char_map[start][0]
        return example.context[first_char : feature.token_to_char_map[end][1]]
    return get_final_text(
        *_predicted_and_original(span, example),
        tokenizer,
        options.verbose_logging,
    )


def _predicted_and_original(
    span: Span, example: SquadExample
) -> tuple[str, str]:
    """Returns a span's joined WordPieces, and the words they belong to."""
    feature, start, end = span[:3]
    tok_text = " ".join(feature.tokens[start : end + 1])
    tok_text = tok_text.replace(" ##", "").replace("##", "")
    orig_start = feature.token_to_orig_map[start]
    orig_end = feature.token_to_orig_map[end]
    words = example.doc_tokens[orig_start : orig_end + 1]
    return " ".join(tok_text.split()), " ".join(words)


def find_place(
    span: Span,
    example: SquadExample,
    word_starts: Sequence[int],
    tokenizer: BasicTokenizer,
) -> tuple[int, int]:
    """Finds where a span's text begins and ends in the passage.

    `word_starts` are the indices of the words' first characters.

    Returns:
        (start, end) in characters, the end exclusive. (-1, -1) for no answer.
    """
    feature, start, end = span[:3]
    if start == 0:
        return -1, -1
    if feature.token_to_char_map is not None:
        chars = feature.token_to_char_map
        return chars[start][0], chars[end][1]
    first, stop = _find_final_text(
        *_predicted_and_original(span, example), tokenizer
    )

    def in_passage(place: int) -> int:
        """Converts a place in the joined words to a place in the passage."""
        word = feature.token_to_orig_map[start]
        while place > len(example.doc_tokens[word]):
            place -= len(example.doc_tokens[word]) + 1
            word += 1
        return word_starts[word] + place

    return in_passage(first), in_passage(stop - 1) + 1


def get_final_text(
    pred_text: str,
    orig_text: str,
    tokenizer: BasicTokenizer,
    verbose_logging: bool = False,
) -> str:
    """Maps a predicted text back to the passage's own spelling.

    For example, "steve smith" in "Steve Smith's" becomes "Steve Smith". The
    result has the spelling of the passage, but not the characters that the
    tokenizer split off. The function matches the characters of the tokenized
    words one to one with the characters of the passage, ignoring spaces. If
    this fails, it returns `orig_text`.

    `pred_text` is joined WordPieces, separated by single spaces. `orig_text`
    is the words of the passage that contain them.
    """
    start, end = _find_final_text(
        pred_text, orig_text, tokenizer, verbose_logging
    )
    return orig_text[start:end]


def _find_final_text(
    pred_text: str,
    orig_text: str,
    tokenizer: BasicTokenizer,
    verbose_logging: bool = False,
) -> tuple[int, int]:
    """Returns where the result of `get_final_text` is in `orig_text`.

    The result is (start, end) in characters, the end exclusive.
    """
    tok_text = " ".join(tokenizer.tokenize(orig_text))
    start = tok_text.find(pred_text)
    if start == -1:
        failure = "Unable to find text"
    elif len(tok_text.replace(" ", "")) != len(orig_text.replace(" ", "")):
        failure = "Length not equal after stripping spaces"
    # An empty text, or a space at an end of the text, has no position.
    elif not pred_text or pred_text != pred_text.strip(" "):
        failure = "Couldn't map start or end position"
    else:
        end = start + len(pred_text) - 1
        first = start - tok_text.count(" ", 0, start)
        last = end - tok_text.count(" ", 0, end)
        places = [i for i, char in enumerate(orig_text) if char != " "]
        return places[first], places[last] + 1
    if verbose_logging:
        logging.info("%s: '%s' in '%s'", failure, pred_text, orig_text)
    return 0, len(orig_text)
