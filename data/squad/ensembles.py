"""SQuAD: averages the n-best lists of several models."""

import collections
import math
from collections.abc import Mapping, Sequence
from typing import Any

from data.squad.decoding import NO_ANSWER_SCORE_DIFF, DecodingOptions

NBest = Mapping[str, list[dict[str, Any]]]


def average_nbest(
    members: Sequence[NBest], options: DecodingOptions
) -> tuple[dict[str, str], dict[str, list[dict]], dict[str, float]]:
    """Returns the answers of an ensemble.

    A text's probability is its mean over the models' n-best lists, counting 0
    for lists without it. The score of no answer is the logarithm of its
    probability over the best text's, which for one model is the difference of
    their scores.

    Args:
        members: each model's n-best lists by question id, as
            `decode_predictions` returns them.
        options: DecodingOptions that they were made with.

    Returns:
        as `decode_predictions`; the logits of an entry are the mean over the
        lists that have it.
    """
    predictions, all_nbest, score_diffs = {}, {}, {}
    for qas_id in members[0]:
        # Not truncated yet: "no answer" must stay, however unlikely.
        nbest = _average([nbest[qas_id] for nbest in members])
        answer = nbest[0]["text"]
        if options.version_2_with_negative:
            answer, score_diff = _best_answer(nbest)
            score_diffs[qas_id] = score_diff
            if score_diff > options.null_score_diff_threshold:
                answer = ""
        predictions[qas_id] = answer
        all_nbest[qas_id] = _cut(nbest, options)
    return predictions, all_nbest, score_diffs


def _average(lists: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Returns the entries of all lists, merged by text, best first."""
    entries_of = collections.defaultdict(list)
    for entry in (entry for entries in lists for entry in entries):
        entries_of[entry["text"]].append(entry)

    def total(entries: Sequence[dict[str, Any]], name: str) -> float:
        return math.fsum(entry[name] for entry in entries)

    merged = [
        {
            "text": text,
            "probability": total(entries, "probability") / len(lists),
            "start_logit": total(entries, "start_logit") / len(entries),
            "end_logit": total(entries, "end_logit") / len(entries),
        }
        for text, entries in entries_of.items()
    ]
    return sorted(merged, key=lambda entry: -entry["probability"])


def _best_answer(nbest: Sequence[dict[str, Any]]) -> tuple[str, float]:
    """Returns the best text, and the score of no answer relative to it."""
    probabilities = {entry["text"]: entry["probability"] for entry in nbest}
    null = probabilities.pop("", 0.0)
    for text, best in probabilities.items():
        if not null or not best:
            return text, -NO_ANSWER_SCORE_DIFF if best else NO_ANSWER_SCORE_DIFF
        return text, math.log(null) - math.log(best)
    return "", NO_ANSWER_SCORE_DIFF


def _cut(
    nbest: list[dict[str, Any]], options: DecodingOptions
) -> list[dict[str, Any]]:
    """Returns the n best; in v2.0 "no answer" is always among them."""
    entries = nbest[: options.n_best_size]
    if options.version_2_with_negative:
        entries += [
            entry
            for entry in nbest[options.n_best_size :]
            if entry["text"] == ""
        ]
    return entries
