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
from model_folders.model_json_types import OutputMode


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
    right_labels: list[Label] = []
    predicted_labels = decoder.decode_labels(outputs)
    for example, predicted, probabilities in zip(
        examples, predicted_labels, decoder.probabilities(outputs), strict=True
    ):
        right = example.label
        assert right is not None, "a dev set has labels"
        right_labels.append(right)
        badness, verdict = _judge_label(
            right, predicted, probabilities, decoder
        )
        _count_labels(report.counts, right, predicted, decoder.output_mode)
        text, unread = _join_texts(example, max_seq_length, tokenizer)
        report.judged.append(
            JudgedPrediction(
                badness, verdict, text, example.guid, {"unread": unread}
            )
        )
    if decoder.output_mode == "regression":
        report.mean_errors = _mean_errors(right_labels, predicted_labels)
    else:
        report.baseline = _find_most_frequent(right_labels)
    report.write(output_file)


def _count_labels(
    counts: OutcomeCounts,
    right: Label,
    predicted: Label,
    output_mode: OutputMode,
) -> None:
    """Counts the outcome of a prediction for each label. Not in regression."""
    if output_mode == "classification":
        name = str(right)
        counts.update([(name, f"as {predicted}"), (name, "support")])
    elif output_mode == "multilabel":
        names = names_of(right)
        outcomes = find_outcomes(names, names_of(predicted))
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


def _find_most_frequent(right_labels: Sequence[Label]) -> Baseline | None:
    """Returns the most frequent answer, None without examples."""
    label_names = [sorted({*names_of(label)}) for label in right_labels]
    answers = [", ".join(names) or "none" for names in label_names]
    if not answers:
        return None
    ((answer, num_examples),) = collections.Counter(answers).most_common(1)
    return Baseline(answer, num_examples / len(answers))


def _mean_errors(
    right_labels: Sequence[Label], predicted_labels: Sequence[Label]
) -> dict[str, float]:
    """Returns the mean error of the model and of always predicting the mean."""
    right = np.array([*map(number_of, right_labels)])
    predicted = np.array([*map(number_of, predicted_labels)])
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
    predicted: Label,
    probabilities: FloatArray,
    decoder: LabelDecoder,
) -> tuple[float, str]:
    """Returns the badness and the verdict of a prediction.

    `probabilities` contains the probability of each label.
    """
    if decoder.output_mode == "regression":
        right_number = number_of(right)
        predicted_number = number_of(predicted)
        badness = abs(predicted_number - right_number)
        verdict = (
            f"Right: {right_number:.4g}. Predicted: {predicted_number:.4g}."
        )
    elif decoder.output_mode == "multilabel":
        right_names = names_of(right)
        predicted_names = names_of(predicted)
        wrong = {*right_names} ^ {*predicted_names}
        errors = [decoder.label_list.index(name) for name in wrong]
        certainties = np.maximum(probabilities, 1 - probabilities)
        badness = max(certainties[errors], default=0.0)
        verdict = (
            f"Right: {', '.join(right_names) or 'none'}. "
            f"Predicted: {', '.join(predicted_names) or 'none'}."
        )
    else:
        # Begin the right ones with the least certain one.
        best = probabilities.max()
        badness = best if right != predicted else -best
        verdict = f"Right: {right}. Predicted: {predicted} ({best:.3f})."
    return badness, verdict
