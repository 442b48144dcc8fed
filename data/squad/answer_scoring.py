"""Computes SQuAD's official scores, exact match and F1, for v1.1 and v2.0."""

import re
import string
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from absl import logging

from data.squad.answer_decoding import NbestEntry
from data.squad.squad_questions import SquadFile, read_field

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


class NoGoldAnswersError(ValueError):
    """A file contains questions without the right answers, to be predicted."""


class GoldAnswers(NamedTuple):
    """The right answers of a SQuAD file, as a version of SQuAD counts them.

    Attributes:
        path: the file that the answers come from, for messages.
        texts_of_questions: [(question id, its gold answers)] of the questions
            that are scored. In v2.0, a question without an answer has [].
        num_skipped: number of questions that are not scored.
        version_2_with_negative: whether the file is in the format of v2.0.
    """

    path: str
    texts_of_questions: list[tuple[str, list[str]]]
    num_skipped: int
    version_2_with_negative: bool

    def log_num_skipped(self) -> None:
        """Logs a warning if there are questions that are not scored."""
        _warn_of_questions(
            self.path,
            self.num_skipped,
            "have no gold answers and are not scored",
        )


def collect_gold_answers(
    file: SquadFile, *, version_2_with_negative: bool = False
) -> GoldAnswers:
    """Returns the right answers in the content of a file.

    In v1.1, questions without gold answers are skipped.

    Args:
        file: the content of a SQuAD file with answers.
        version_2_with_negative: whether the file is in the format of v2.0.

    Raises:
        NoGoldAnswersError: the file contains no gold answers.
        ValueError: a question is not in SQuAD's layout. If other questions have
            answers, each must have the field.
    """
    try:
        return _collect_gold_answers(
            file, version_2_with_negative=version_2_with_negative
        )
    except ValueError as error:
        # Some test sets are published without the field.
        if all(qa.get("answers") is None for _, qa, _ in file.questions):
            raise NoGoldAnswersError(str(error)) from error
        raise


def _collect_gold_answers(
    file: SquadFile, *, version_2_with_negative: bool
) -> GoldAnswers:
    """Returns the right answers, for `collect_gold_answers`."""
    texts_of_questions: list[tuple[str, list[str]]] = []
    num_skipped = 0
    is_labeled = False
    for _, qa, place in file.questions:
        qas_id = read_field(qa, "id", str, place)
        texts = [
            read_field(answer, "text", str, place)
            for answer in read_field(qa, "answers", list, place)
        ]
        # A file for prediction contains no answers, and often lacks
        # is_impossible. Its questions do not count as unanswerable.
        is_labeled |= bool(texts) or qa.get("is_impossible") is True
        if texts or version_2_with_negative:
            texts_of_questions.append((qas_id, texts))
        else:
            num_skipped += 1
    if not is_labeled or not texts_of_questions:
        raise NoGoldAnswersError(
            f"{file.path} contains no right answers; to compute scores, use a "
            "train or dev file"
        )
    return GoldAnswers(
        file.path, texts_of_questions, num_skipped, version_2_with_negative
    )


def score_predictions(
    gold_answers: GoldAnswers,
    predictions: Mapping[str, str],
    *,
    nbest: Mapping[str, list[NbestEntry]] | None = None,
    null_odds: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Scores answers as the official scripts do.

    In v1.1, a question without a prediction counts as wrong, and a question
    without gold answers is skipped. In v2.0, "no answer" is right for it. The
    function logs how many questions are skipped, or have no prediction.

    Args:
        gold_answers: the right answers.
        predictions: {question id: predicted text}. In v2.0, "" is no answer.
        nbest: {question id: n-best list}, best entry first, with a "text" each.
        null_odds: {question id: score of no answer minus score of the best
            answer}.

    Returns:
        `exact_match` (`exact` in v2.0) and `f1`, in percent, and `total`, the
        number of scored questions. In v2.0, `HasAns_exact`, `HasAns_f1` and
        `HasAns_total` are the results for only the questions with answers, and
        `NoAns_exact` and so on for only the questions without answers. With
        `nbest` and `null_odds` also `best_exact` and `best_f1`, the highest
        scores that any --null_score_diff_threshold reaches, and
        `best_exact_thresh` and `best_f1_thresh`, the thresholds that reach
        them. In v1.1, `num_without_gold_answers` is the number of skipped
        questions, if there are any.

    Raises:
        ValueError: in v2.0, a question has no prediction.
    """
    if gold_answers.version_2_with_negative:
        _check_predictions(gold_answers, predictions)
    else:
        _warn_of_missing_predictions(gold_answers, predictions)
    gold_answers.log_num_skipped()
    texts_of_questions = gold_answers.texts_of_questions
    num_skipped = gold_answers.num_skipped
    counts = {"num_without_gold_answers": num_skipped} if num_skipped else {}
    if not gold_answers.version_2_with_negative:
        return _score_v1(texts_of_questions, predictions) | counts
    scores = _score_v2(texts_of_questions, predictions)
    if nbest and null_odds:
        # The search for the best threshold needs each question's best answer,
        # even if --null_score_diff_threshold rejects the answer.
        best_answers = {
            qas_id: next(
                (entry["text"] for entry in entries if entry["text"]), ""
            )
            for qas_id, entries in nbest.items()
        }
        scores |= _find_best_thresholds(
            dict(texts_of_questions), best_answers, null_odds
        )
    return scores | counts


def normalize_answer(text: str) -> str:
    """Lower-cases a text. Drops punctuation, articles and extra spaces."""
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def compute_exact(gold_answer: str, prediction: str) -> int:
    """Returns 1 if two texts are equal after normalization, else 0."""
    return int(normalize_answer(gold_answer) == normalize_answer(prediction))


def compute_f1(gold_answer: str, prediction: str) -> float:
    """Returns F1, the harmonic mean of a prediction's precision and recall.

    Precision and recall compare the words of the normalized texts. If one text
    is empty after normalization, returns 1 if both are empty, else 0.
    """
    answer_words = normalize_answer(gold_answer).split()
    predicted_words = normalize_answer(prediction).split()
    if not answer_words or not predicted_words:
        return int(answer_words == predicted_words)
    num_same = (Counter(answer_words) & Counter(predicted_words)).total()
    if num_same == 0:
        return 0
    precision = num_same / len(predicted_words)
    recall = num_same / len(answer_words)
    return 2 * precision * recall / (precision + recall)


def _check_predictions(
    gold_answers: GoldAnswers, predictions: Mapping[str, str]
) -> None:
    """Raises a ValueError if a question has no prediction."""
    if missing := _list_missing_predictions(gold_answers, predictions):
        raise ValueError(
            f"{gold_answers.path}: {len(missing)} questions have no "
            f"prediction, such as {missing[0]!r}"
        )


def _warn_of_missing_predictions(
    gold_answers: GoldAnswers, predictions: Mapping[str, str]
) -> None:
    """Logs a warning if questions have no prediction."""
    missing = _list_missing_predictions(gold_answers, predictions)
    _warn_of_questions(
        gold_answers.path,
        len(missing),
        "have no prediction and count as wrong",
    )


def _list_missing_predictions(
    gold_answers: GoldAnswers, predictions: Mapping[str, str]
) -> list[str]:
    """Returns the ids of the questions without a prediction."""
    return [
        qas_id
        for qas_id, _ in gold_answers.texts_of_questions
        if qas_id not in predictions
    ]


def _warn_of_questions(path: str, num_questions: int, problem: str) -> None:
    """Logs a warning if there are questions that `problem` describes."""
    if num_questions:
        logging.warning("%s: %d questions %s", path, num_questions, problem)


def _score_v1(
    texts_of_questions: list[tuple[str, list[str]]],
    predictions: Mapping[str, str],
) -> dict[str, float]:
    """Scores answers as the script of v1.1 does.

    If several questions have the same id, v1.1 counts each question, but v2.0
    counts only the last one.
    """
    exact = 0
    f1 = 0.0
    for qas_id, texts in texts_of_questions:
        if qas_id not in predictions:
            continue
        text = predictions[qas_id]
        exact += max(compute_exact(gold, text) for gold in texts)
        # If the prediction and a gold answer are both empty after
        # normalization, F1 is 0 in v1.1, but 1 in v2.0.
        if normalize_answer(text):
            f1 += max(compute_f1(gold, text) for gold in texts)
    total = len(texts_of_questions)
    return {
        "exact_match": 100 * exact / total,
        "f1": 100 * f1 / total,
        "total": total,
    }


def _score_v2(
    texts_of_questions: list[tuple[str, list[str]]],
    predictions: Mapping[str, str],
) -> dict[str, float]:
    """Scores answers as the script of v2.0 does."""
    gold_of_id = dict(texts_of_questions)
    exact, f1 = _score_questions(gold_of_id, predictions)
    # Use lists, not sets, because a sum of floats depends on the order.
    has_answer = [qas_id for qas_id in exact if gold_of_id[qas_id]]
    no_answer = [qas_id for qas_id in exact if not gold_of_id[qas_id]]
    scores: dict[str, float] = {}
    for prefix, qas_ids in (
        ("", list(exact)),
        ("HasAns_", has_answer),
        ("NoAns_", no_answer),
    ):
        if total := len(qas_ids):
            scores |= {
                f"{prefix}exact": (
                    100 * sum(exact[qas_id] for qas_id in qas_ids) / total
                ),
                f"{prefix}f1": (
                    100 * sum(f1[qas_id] for qas_id in qas_ids) / total
                ),
                f"{prefix}total": total,
            }
    return scores


def _score_questions(
    gold_of_id: Mapping[str, list[str]], predictions: Mapping[str, str]
) -> tuple[dict[str, float], dict[str, float]]:
    """Returns the exact match and F1 of v2.0, as {question id: score} each."""
    exact: dict[str, float] = {}
    f1: dict[str, float] = {}
    for qas_id, texts in gold_of_id.items():
        text = predictions[qas_id]
        texts = [gold for gold in texts if normalize_answer(gold)] or [""]
        exact[qas_id] = max(compute_exact(gold, text) for gold in texts)
        f1[qas_id] = max(compute_f1(gold, text) for gold in texts)
    return exact, f1


def _find_best_thresholds(
    gold_of_id: Mapping[str, list[str]],
    predictions: Mapping[str, str],
    null_odds: Mapping[str, float],
) -> dict[str, float]:
    """Finds the best scores that a threshold of the null odds reaches.

    A question is answered if its null odds are at most the threshold. The
    search starts without any answered question. Then it tries each question's
    null odds as the threshold, in ascending order, so that each step answers
    one more question. A threshold is 0 if it is best to answer none.
    """
    results = {}
    exact, f1 = _score_questions(gold_of_id, predictions)
    num_unanswerable = sum(not answers for answers in gold_of_id.values())
    for name, scores in (("exact", exact), ("f1", f1)):
        # What each answered question adds to the score.
        gains = {
            qas_id: score if gold_of_id[qas_id] else -bool(predictions[qas_id])
            for qas_id, score in scores.items()
        }
        best, threshold = _find_best_threshold(
            gains, null_odds, num_unanswerable
        )
        results[f"best_{name}"] = 100 * best / len(scores)
        results[f"best_{name}_thresh"] = threshold
    return results


def _find_best_threshold(
    gains: Mapping[str, float], null_odds: Mapping[str, float], score: float
) -> tuple[float, float]:
    """Returns (best score, threshold that reaches it).

    Examples:
        Answering "a" adds 1 to the score, and answering "b" subtracts 1:

        >>> _find_best_threshold({"a": 1, "b": -1}, {"a": -3.0, "b": 2.0}, 5)
        (6, -3.0)

    Args:
        gains: {question id: what the score gains if the question is answered}.
        null_odds: {question id: score of no answer minus score of the best
            answer}.
        score: score without any answered question.
    """
    best = score
    best_threshold = 0.0
    for qas_id in sorted(null_odds, key=null_odds.__getitem__):
        if qas_id not in gains:
            continue
        score += gains[qas_id]
        if score > best:
            best = score
            best_threshold = null_odds[qas_id]
    return best, best_threshold
