"""Reports a classifier's predictions for a dev set."""

import collections
from collections.abc import Sequence

import numpy as np

from data.arrays import FloatArray
from data.classification.classification_examples import (
    InputExample,
    Label,
    names_of,
    number_of,
    split_texts,
)
from data.classification.label_decoding import LabelDecoder
from data.report import (
    Baseline,
    Heading,
    JudgedPrediction,
    OutcomeCounts,
    Report,
    find_outcomes,
)
from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders.model_entries import OutputMode


def write_label_report(
    output_file: StrPath,
    heading: Heading,
    *,
    examples: Sequence[InputExample],
    outputs: FloatArray,
    decoder: LabelDecoder,
    tokenizer: FullTokenizer,
    max_seq_length: int,
) -> None:
    """Reports a classifier's predictions, the most confident errors first.

    The table counts which label was taken for which.

    Args:
        output_file: path of the page.
        heading: the title and the scores.
        examples: the examples, each with its label.
        outputs: outputs of the model, float [examples, labels], or
            [examples, 1] in regression.
        decoder: turns the outputs into labels.
        tokenizer: tokenizer of the model.
        max_seq_length: WordPieces that the model reads. The page marks the rest
            of a text.

    Raises:
        OSError: the file cannot be written.
    """
    report = Report(heading)
    golds: list[Label] = []
    guesses = decoder.decode_labels(outputs)
    for example, guess, probabilities in zip(
        examples, guesses, decoder.probabilities(outputs), strict=True
    ):
        right = example.label
        assert right is not None, "a dev set has labels"
        golds.append(right)
        badness, verdict = _judge_label(right, guess, probabilities, decoder)
        _count_labels(report.counts, right, guess, decoder.output_mode)
        text, unread = _join_texts(example, max_seq_length, tokenizer)
        report.judged.append(
            JudgedPrediction(
                badness, verdict, text, example.guid, {"unread": unread}
            )
        )
    if decoder.output_mode == "regression":
        report.mean_errors = _mean_errors(golds, guesses)
    else:
        report.baseline = _find_most_frequent(golds)
    report.write(output_file)


def _count_labels(
    counts: OutcomeCounts, right: Label, guess: Label, output_mode: OutputMode
) -> None:
    """Counts the outcome of a prediction for each label. Not in regression."""
    if output_mode == "classification":
        name = str(right)
        counts.update([(name, f"as {guess}"), (name, "support")])
    elif output_mode == "multilabel":
        names = names_of(right)
        outcomes = find_outcomes(names, names_of(guess))
        counts.update((name, outcome) for outcome, name in outcomes)
        counts.update((name, "support") for name in {*names})


def _join_texts(
    example: InputExample, max_seq_length: int, tokenizer: FullTokenizer
) -> tuple[str, list[tuple[int, int]]]:
    """Returns an example's texts as one, and the spans that no model reads."""
    text = ""
    unread = []
    for beginning, rest in split_texts(example, max_seq_length, tokenizer):
        if text:
            text += " | "
        text += beginning + rest
        if rest:
            unread.append((len(text) - len(rest), len(text)))
    return text, unread


def _find_most_frequent(golds: Sequence[Label]) -> Baseline | None:
    """Returns the most frequent answer, None without examples."""
    label_names = [sorted({*names_of(label)}) for label in golds]
    answers = [", ".join(names) or "none" for names in label_names]
    if not answers:
        return None
    ((answer, num_examples),) = collections.Counter(answers).most_common(1)
    return Baseline(answer, num_examples / len(answers))


def _mean_errors(
    golds: Sequence[Label], guesses: Sequence[Label]
) -> dict[str, float]:
    """Returns the mean error of the model and of always predicting the mean."""
    right = np.array([*map(number_of, golds)])
    predicted = np.array([*map(number_of, guesses)])
    if not len(right):
        return {}
    mean = right.mean()
    return {
        "mean": mean,
        "always": np.abs(right - mean).mean(),
        "model": np.abs(right - predicted).mean(),
    }


def _judge_label(
    right: Label,
    guess: Label,
    probabilities: FloatArray,
    decoder: LabelDecoder,
) -> tuple[float, str]:
    """Returns the badness and the verdict of a prediction.

    `probabilities` contains the probability of each label.
    """
    if decoder.output_mode == "regression":
        expected, predicted = number_of(right), number_of(guess)
        badness = abs(predicted - expected)
        verdict = f"Right: {expected:.4g}. Predicted: {predicted:.4g}."
    elif decoder.output_mode == "multilabel":
        names, guessed = names_of(right), names_of(guess)
        wrong = {*names} ^ {*guessed}
        errors = [decoder.label_list.index(name) for name in wrong]
        certainties = np.maximum(probabilities, 1 - probabilities)
        badness = max(certainties[errors], default=0.0)
        verdict = (
            f"Right: {', '.join(names) or 'none'}. "
            f"Predicted: {', '.join(guessed) or 'none'}."
        )
    else:
        # Begin the right ones with the least certain one.
        best = probabilities.max()
        badness = best if right != guess else -best
        verdict = f"Right: {right}. Predicted: {guess} ({best:.3f})."
    return badness, verdict
