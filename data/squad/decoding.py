"""Turns the network's start and end logits into answers to SQuAD's questions.

Each window contributes its n best starts and n best ends. All valid pairs of a
start and an end, from all windows of a question, are sorted by the sum of their
logits. The best pairs are then mapped back to the text of the passage.
"""

import collections
import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from data.squad.passage_windows import SquadFeatures
from data.squad.reading import SquadExample
from data.text.tokenization import BasicTokenizer
from files import flags

RawResult = collections.namedtuple(
    "RawResult", ["unique_id", "start_logits", "end_logits"]
)

# Score of no answer minus score of the best answer, for a question whose only
# candidate is "no answer".
NO_ANSWER_SCORE_DIFF = 1000000.0

Span = collections.namedtuple(
    "Span", ["feature", "start_index", "end_index", "start_logit", "end_logit"]
)
_NOTHING = Span(None, 0, 0, 0.0, 0.0)

# Three dicts whose keys are question ids. The first contains the text of each
# answer. The second contains the n-best lists, best entry first. Each entry
# contains `text`, `probability`, `start_logit` and `end_logit`. The third, only
# for SQuAD v2.0, contains the score of no answer minus the best answer's score.
Answers = tuple[dict[str, str], dict[str, list[dict]], dict[str, float]]


@dataclasses.dataclass(frozen=True)
class DecodingOptions:
    """Options for choosing answers from the start and end logits."""

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
        False, "Log answers that cannot be mapped to the passage's spelling."
    )
    # Whether to ignore the logits at padding. Google's code uses them.
    trim_padding: bool = False


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

    predictions, all_nbest, score_diffs = {}, {}, {}
    for example_index, example in enumerate(all_examples):
        features = features_of.pop(example_index, [])
        answer = decode_question(
            example, features, result_of, options, tokenizer
        )
        predictions[example.qas_id] = answer.nbest[answer.chosen][0]
        if options.version_2_with_negative:
            score_diffs[example.qas_id] = answer.score_diff
        all_nbest[example.qas_id] = with_probabilities(answer.nbest)
    return predictions, all_nbest, score_diffs


class Answer(NamedTuple):
    """The best candidates for the answer to a question.

    Attributes:
        nbest: list of (text, Span), best first, never empty.
        chosen: index in `nbest` of the predicted answer.
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
    nbest, texts = [], set()
    for span in spans:
        if span.start_index == 0:
            text = ""
        elif (chars := span.feature.token_to_char_map) is not None:
            begin = chars[span.start_index][0]
            text = example.context[begin : chars[span.end_index][1]]
        else:
            predicted, words = _predicted_and_original(span, example)
            first, stop = find_final_text(
                predicted, words, tokenizer, options.verbose_logging
            )
            text = words[first:stop]
        # Skip a text that is already in the list. Always add "no answer", which
        # is the span that starts at [CLS].
        if span.start_index == 0 or text not in texts:
            texts.add(text)
            nbest.append((text, span))
            if len(nbest) >= options.n_best_size:
                break
    if is_v2 and all(text for text, _ in nbest):
        nbest.append(("", null))
    nbest = nbest or [("empty", _NOTHING)]
    # These values remain if "no answer" is the only candidate. Google's code
    # fails in this case.
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
    # Returns the spans that may be the answer, the span of "no answer", and its
    # score. That span contains only [CLS], in the window where [CLS] has the
    # lowest score.
    spans = []
    null, null_score = _NOTHING, NO_ANSWER_SCORE_DIFF
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
        start_logits, end_logits = start_logits.tolist(), end_logits.tolist()
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
            null, null_score = cls, _score(cls)
    return spans, null, null_score


def _score(span: Span) -> float:
    return span.start_logit + span.end_logit


def with_probabilities(nbest: list[tuple[str, Span]]) -> list[dict]:
    """Converts a question's n-best list to entries for nbest_predictions.json.

    The probabilities are the softmax of the scores in the list.
    """
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


def _predicted_and_original(
    span: Span, example: SquadExample
) -> tuple[str, str]:
    # Returns a span's joined WordPieces, and the words that contain them.
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

    `word_starts` contains the index of each word's first character. Returns
    (start, end) in characters, or (-1, -1) for no answer.
    """
    feature, start, end = span[:3]
    if start == 0:
        return -1, -1
    if feature.token_to_char_map is not None:
        chars = feature.token_to_char_map
        return chars[start][0], chars[end][1]
    first, stop = find_final_text(
        *_predicted_and_original(span, example), tokenizer
    )

    # For each character of the joined words, its index in the passage. A space
    # follows each word.
    places = [
        index
        for word in range(
            feature.token_to_orig_map[start], feature.token_to_orig_map[end] + 1
        )
        for index in range(
            word_starts[word],
            word_starts[word] + len(example.doc_tokens[word]) + 1,
        )
    ]
    return places[first], places[stop - 1] + 1


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
    tok_text = " ".join(tokenizer.tokenize(orig_text))
    start = tok_text.find(pred_text)
    if start == -1:
        failure = "Unable to find text"
    elif len(tok_text.replace(" ", "")) != len(orig_text.replace(" ", "")):
        failure = "Length not equal after stripping spaces"
    # Only characters other than spaces have a position in `orig_text`, so the
    # prediction must begin and end with such a character.
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
