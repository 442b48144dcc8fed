"""Finds SQuAD's answers in the logits of a model or an ensemble."""

import collections
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from data.squad.decoding import (
    NO_ANSWER_SCORE_DIFF,
    Answers,
    DecodingOptions,
    RawResult,
    decode_predictions,
)
from data.squad.reading import SquadExample
from data.squad.windows import SquadFeatures
from data.text.tokenization import BasicTokenizer

NBest = Mapping[str, list[dict[str, Any]]]


def find_answers(
    examples: Sequence[SquadExample],
    features: Sequence[SquadFeatures],
    batches: Iterable[tuple[Mapping[str, Any], Any]],
    options: DecodingOptions,
    tokenizer: BasicTokenizer,
) -> Answers:
    """Turns the logits of a model or an ensemble into answers to questions.

    Args:
        examples: the questions.
        features: windows of the questions.
        batches: a pair (features, outputs) for each batch of windows, in any
            order. The features contain `unique_ids`. A model's outputs contain
            `start_logits` and `end_logits`. An ensemble's outputs are a list of
            its models' outputs.
        options: options for choosing answers from the logits.
        tokenizer: BasicTokenizer of the model. `get_final_text` uses it to map
            answers to the passage's spelling.

    Returns:
        the three dicts that the comment on `decoding.Answers` describes.
    """
    results: list[list[RawResult]] = []
    for batch, outputs in batches:
        members = outputs if isinstance(outputs, list) else [outputs]
        results = results or [[] for _ in members]
        for member_results, member in zip(results, members, strict=True):
            member_results += map(
                RawResult,
                batch["unique_ids"].tolist(),
                member["start_logits"],
                member["end_logits"],
            )
    answers = [
        decode_predictions(
            examples, features, member_results, options, tokenizer
        )
        # If no passage contains a WordPiece, there are no batches. Decode
        # without results then, because each question needs an answer.
        for member_results in results or [[]]
    ]
    if len(answers) == 1:
        return answers[0]
    return average_nbest([nbest for _, nbest, _ in answers], options)


def average_nbest(
    members: Sequence[NBest], options: DecodingOptions
) -> Answers:
    """Combines the answers of an ensemble's models.

    The probability of an answer text is the average of its probabilities in the
    models' n-best lists. A list without the text contributes 0. The returned
    no-answer score is log(P(no answer) / P(best text)). With a single model,
    the score is the no-answer logit sum minus the logit sum of the best text.
    If P(best text) is 0, the score is NO_ANSWER_SCORE_DIFF. If only P(no
    answer) is 0, it is -NO_ANSWER_SCORE_DIFF.

    `members` contains one dict {question id: n-best list} for each model, which
    `decode_predictions` created with `options`.

    Returns:
        the dicts that the comment on `decoding.Answers` describes. The logits
        of an entry are the means over the lists that contain its text.
    """
    predictions, all_nbest, score_diffs = {}, {}, {}
    for qas_id in members[0]:
        # Do not shorten the averaged list to n_best_size yet, because even an
        # unlikely "no answer" is needed below.
        nbest = _average([nbest[qas_id] for nbest in members])
        answer = nbest[0]["text"]
        if options.version_2_with_negative:
            probabilities = {
                each["text"]: each["probability"] for each in nbest
            }
            null = probabilities.pop("", 0.0)
            answer, score_diff = "", NO_ANSWER_SCORE_DIFF
            if probabilities:
                # The dict is sorted, so its first text is the most probable.
                answer, best = next(iter(probabilities.items()))
                if null and best:
                    score_diff = math.log(null) - math.log(best)
                elif best:
                    score_diff = -NO_ANSWER_SCORE_DIFF
            score_diffs[qas_id] = score_diff
            if score_diff > options.null_score_diff_threshold:
                answer = ""
        predictions[qas_id] = answer
        size = options.n_best_size
        # In v2.0, "no answer" is always in the list. If it is not among the
        # n best entries, append it.
        nulls = [entry for entry in nbest[size:] if entry["text"] == ""]
        is_v2 = options.version_2_with_negative
        all_nbest[qas_id] = nbest[:size] + nulls * is_v2
    return predictions, all_nbest, score_diffs


def _average(lists: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Averages a question's n-best lists into one list, best first.

    Entries with the same text become one entry. Its probability is the mean
    over all lists, and its logits are the means over the lists that contain it.
    """
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
