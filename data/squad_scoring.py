"""SQuAD's official scores: exact match and F1, of v1.1 and of v2.0."""

import collections
import re
import string

from absl import logging

from data.squad_reading import field, read_questions

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def score_predictions(
    input_file,
    predictions,
    version_2_with_negative=False,
    null_odds=None,
):
    """Scores answers as the official scripts do.

    Args:
        input_file: SQuAD JSON with the right answers.
        predictions: dict of question id to text; in v2.0 "" for no answer.
        version_2_with_negative: whether to score as v2.0 rather than v1.1.
        null_odds: in v2.0, dict of question id to a score of no answer, as
            write_predictions gives it, to search the best threshold by. Its
            meaning asks for `predictions` made without a threshold
            (best_answers); those that are "" already stay so.

    Returns:
        dict of `exact_match` (`exact` in v2.0), `f1`, in percent, and `total`,
        the number of questions; in v2.0 also the same for the questions with
        and without answers (`HasAns_...`, `NoAns_...`); with null_odds also
        `best_exact`, `best_exact_thresh`, `best_f1`, `best_f1_thresh`.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not SQuAD's JSON, holds no answers, or shares no
            question with the predictions.
    """
    right_answers = _read_right_answers(input_file)
    missing = right_answers.keys() - predictions.keys()
    if len(missing) == len(right_answers):
        raise ValueError(
            f"no prediction is for a question of {input_file}; give the file "
            "that was predicted"
        )
    if missing:
        logging.warning(
            "%d of %d questions of %s have no prediction",
            len(missing),
            len(right_answers),
            input_file,
        )
    if not version_2_with_negative:
        return _score_v1(right_answers, predictions)
    return _score_v2(right_answers, predictions, null_odds)


def score_outputs(input_file, predictions, nbest, null_odds):
    """Scores what decode_predictions gives, its best threshold included.

    Args:
        input_file: SQuAD JSON with the right answers.
        predictions: dict of question id to text.
        nbest: dict of question id to entries with a "text", best first.
        null_odds: in v2.0, dict of question id to a score of no answer; in
            v1.1 it is empty.

    Returns:
        as score_predictions.

    Raises:
        OSError: the file cannot be read.
        ValueError: as score_predictions.
    """
    if not null_odds:
        return score_predictions(input_file, predictions)
    # The best threshold is sought among answers made without one.
    without = score_predictions(
        input_file, best_answers(nbest), True, null_odds
    )
    return score_predictions(input_file, predictions, True) | {
        name: value
        for name, value in without.items()
        if name.startswith("best_")
    }


def best_answers(nbest):
    """Returns the best answer that is not "" for each question, or "".

    Args:
        nbest: dict of question id to entries with a "text", best first, as
            write_predictions gives them.
    """
    return {
        qas_id: next((entry["text"] for entry in entries if entry["text"]), "")
        for qas_id, entries in nbest.items()
    }


def normalize_answer(text):
    """Lower-cases a text; drops punctuation, articles, superfluous spaces."""
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def compute_exact(right_answer, prediction):
    """Returns 1 if two texts are equal but for form, else 0."""
    return int(normalize_answer(right_answer) == normalize_answer(prediction))


def compute_f1(right_answer, prediction):
    """Returns the harmonic mean of precision and recall of words.

    If either text is empty, it is 1 if both are, else 0.
    """
    right = normalize_answer(right_answer).split()
    predicted = normalize_answer(prediction).split()
    if not right or not predicted:
        return int(right == predicted)
    common = collections.Counter(right) & collections.Counter(predicted)
    num_same = sum(common.values())
    if num_same == 0:
        return 0
    precision = num_same / len(predicted)
    recall = num_same / len(right)
    return 2 * precision * recall / (precision + recall)


def _read_right_answers(input_file):
    """Returns a dict of question id to its right answers' texts."""
    right_answers = {}
    for _, qa, where in read_questions(input_file):
        qas_id = field(qa, "id", str, where)
        answers = field(qa, "answers", list, where)
        right_answers[qas_id] = [
            field(answer, "text", str, where) for answer in answers
        ]
    if not any(right_answers.values()):
        raise ValueError(
            f"{input_file} holds no answers, so nothing can be scored by it; "
            "give a train or dev file"
        )
    return right_answers


def _score_v1(right_answers, predictions):
    exact = f1 = 0
    for qas_id, texts in right_answers.items():
        # Unlike v2.0, F1 here is 0 for two empty texts.
        text = predictions.get(qas_id)
        if text is None or not texts:
            continue
        exact += max(compute_exact(right, text) for right in texts)
        if normalize_answer(text):
            f1 += max(compute_f1(right, text) for right in texts)
    total = len(right_answers)
    return {
        "exact_match": 100 * exact / total,
        "f1": 100 * f1 / total,
        "total": total,
    }


def _score_v2(right_answers, predictions, null_odds):
    exact, f1 = {}, {}
    for qas_id, texts in right_answers.items():
        if qas_id not in predictions:
            continue
        text = predictions[qas_id]
        texts = [right for right in texts if normalize_answer(right)] or [""]
        exact[qas_id] = max(compute_exact(right, text) for right in texts)
        f1[qas_id] = max(compute_f1(right, text) for right in texts)
    scores = _means(exact, f1, exact.keys())
    has_answer = {qas_id for qas_id in exact if right_answers[qas_id]}
    for prefix, qas_ids in (
        ("HasAns_", has_answer),
        ("NoAns_", exact.keys() - has_answer),
    ):
        if qas_ids:
            means = _means(exact, f1, qas_ids)
            scores |= {prefix + name: mean for name, mean in means.items()}
    if null_odds is not None:
        for name, each in (("exact", exact), ("f1", f1)):
            best, threshold = _find_best_threshold(
                predictions, each, null_odds, has_answer
            )
            scores[f"best_{name}"] = best
            scores[f"best_{name}_thresh"] = threshold
    return scores


def _means(exact, f1, qas_ids):
    total = len(qas_ids)
    return {
        "exact": 100 * sum(exact[qas_id] for qas_id in qas_ids) / total,
        "f1": 100 * sum(f1[qas_id] for qas_id in qas_ids) / total,
        "total": total,
    }


def _find_best_threshold(predictions, scores, null_odds, has_answer):
    """Returns the best score in percent, and the threshold that gives it.

    The questions whose odds are not above the threshold are answered; the
    search takes one more question at a time.
    """
    score = best = len(scores) - len(has_answer)
    best_threshold = 0.0
    for qas_id in sorted(null_odds, key=null_odds.get):
        if qas_id not in scores:
            continue
        if qas_id in has_answer:
            score += scores[qas_id]
        elif predictions[qas_id]:
            score -= 1
        if score > best:
            best, best_threshold = score, null_odds[qas_id]
    return 100 * best / len(scores), best_threshold
