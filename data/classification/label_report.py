"""Reports a classifier's predictions for a dev set."""

import collections
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from data.arrays import FloatArray
from data.classification.classification_examples import (
    InputExample,
    Label,
    class_names_of,
    convert_regression_label,
)
from data.classification.label_codec import LabelCodec
from data.predictions.report import (
    Baseline,
    Heading,
    JudgedPrediction,
    OutcomeCounts,
    Report,
    list_outcomes,
)
from data.text import token_windows
from data.text.characters import CharacterSpan
from data.text.tokenization import FullTokenizer
from files.paths import StrPath
from model_folders.output_modes import (
    CLASSIFICATION,
    MULTILABEL,
    REGRESSION,
    OutputMode,
)

# Matches a word, or an ideograph, which is a word for the tokenizer.
_WORD = re.compile(r"[^\s\u3400-\u4dbf\u4e00-\u9fff]+|\S")


def write_label_report(
    output_file: StrPath,
    heading: Heading,
    *,
    examples: Sequence[InputExample],
    outputs: FloatArray,
    codec: LabelCodec,
    tokenizer: FullTokenizer,
    max_seq_length: int,
) -> None:
    """Reports a classifier's predictions, the most confident errors first.

    The table counts which label was taken for which.

    Args:
        output_file: path of the HTML page.
        heading: the title of the page, and the scores below it.
        examples: the examples, each with its label.
        outputs: outputs of the model, float [examples, labels], or
            [examples, 1] in regression.
        codec: turns the outputs into labels.
        tokenizer: tokenizer of the model.
        max_seq_length: WordPieces that the model reads. The page marks the rest
            of a text.

    Raises:
        OSError: the file cannot be written.
        ValueError: an example has no label. The message names its guid.
    """
    report = Report(heading)
    gold_labels: list[Label] = []
    predicted_labels = codec.decode_labels(outputs)
    for example, predicted, probabilities in zip(
        examples, predicted_labels, codec.compute_values(outputs), strict=True
    ):
        gold = example.label
        if gold is None:
            raise ValueError(f"example {example.guid} has no label")
        gold_labels.append(gold)
        badness, verdict = _judge_prediction(
            gold, predicted, probabilities, codec
        )
        _count_labels(report.counts, gold, predicted, codec.output_mode)
        parts = _split_texts(example, max_seq_length, tokenizer)
        text, unread = _join_texts(parts)
        report.judged.append(
            JudgedPrediction(
                badness, verdict, text, example.guid, {"unread": unread}
            )
        )
    if codec.output_mode == REGRESSION:
        report.mean_errors = _mean_errors(gold_labels, predicted_labels)
    else:
        report.baseline = _compute_baseline(gold_labels)
    report.write(output_file)


def _count_labels(
    counts: OutcomeCounts,
    gold: Label,
    predicted: Label,
    output_mode: OutputMode,
) -> None:
    """Counts the outcome of a prediction for each label. Not in regression."""
    if output_mode == CLASSIFICATION:
        name = str(gold)
        counts.update([(name, f"as {predicted}"), (name, "support")])
    elif output_mode == MULTILABEL:
        names = class_names_of(gold)
        outcomes = list_outcomes(names, class_names_of(predicted))
        counts.update((name, outcome) for outcome, name in outcomes)
        counts.update((name, "support") for name in {*names})


class _SplitText(NamedTuple):
    """A text of an example.

    Attributes:
        read: the beginning, which the model reads.
        unread: the rest, "" if the model reads all of the text.
    """

    read: str
    unread: str


class _JoinedText(NamedTuple):
    """The texts of an example as one.

    Attributes:
        text: the texts with marks between them.
        unread: the parts of `text` that the model does not read.
    """

    text: str
    unread: list[CharacterSpan]


def _join_texts(parts: Sequence[_SplitText]) -> _JoinedText:
    text = ""
    unread = []
    for part in parts:
        if text:
            text += " | "
        text += part.read + part.unread
        if part.unread:
            start = len(text) - len(part.unread)
            unread.append(CharacterSpan(start, len(text)))
    return _JoinedText(text, unread)


def _split_texts(
    example: InputExample, max_seq_length: int, tokenizer: FullTokenizer
) -> list[_SplitText]:
    """Splits each text into the part that the model reads, and the rest.

    A word belongs to the rest if any of its WordPieces is cut.
    """
    tokens, first_length, num_cut = token_windows.join_tokens(
        tokenizer.tokenize(example.text_a),
        tokenizer.tokenize(example.text_b or ""),
        max_seq_length,
    )
    if not num_cut:
        return [_SplitText(text, "") for text in example.texts]
    parts = []
    lengths = first_length - 2, len(tokens) - first_length - 1
    for text, num_left in zip(example.texts, lengths, strict=False):
        end = 0
        for word in _WORD.finditer(text):
            num_left -= len(tokenizer.tokenize(word.group()))
            if num_left < 0:
                break
            end = word.end()
        parts.append(_SplitText(text[:end], text[end:]))
    return parts


def _compute_baseline(gold_labels: Sequence[Label]) -> Baseline | None:
    """Returns the most frequent answer, None without examples."""
    names_of_example = [
        sorted({*class_names_of(label)}) for label in gold_labels
    ]
    answers = [", ".join(names) or "none" for names in names_of_example]
    if not answers:
        return None
    ((answer, num_examples),) = collections.Counter(answers).most_common(1)
    return Baseline(answer, num_examples / len(answers))


def _mean_errors(
    gold_labels: Sequence[Label], predicted_labels: Sequence[Label]
) -> dict[str, float]:
    """Returns the mean error of the model and of always predicting the mean."""
    gold = np.array([*map(convert_regression_label, gold_labels)])
    predicted = np.array([*map(convert_regression_label, predicted_labels)])
    if not len(gold):
        return {}
    mean = gold.mean()
    return {
        "mean": mean,
        "always": np.abs(gold - mean).mean(),
        "model": np.abs(gold - predicted).mean(),
    }


class _Judgment(NamedTuple):
    """The verdict on a prediction, for its JudgedPrediction.

    Attributes:
        badness: above 0 if the prediction is wrong, largest for the worst.
        verdict: what was right, and what was predicted.
    """

    badness: float
    verdict: str


def _judge_prediction(
    gold: Label,
    predicted: Label,
    probabilities: FloatArray,
    codec: LabelCodec,
) -> _Judgment:
    """Judges a prediction.

    `probabilities` contains the probability of each label.
    """
    if codec.output_mode == REGRESSION:
        return _judge_number(gold, predicted)
    if codec.output_mode == MULTILABEL:
        return _judge_several_labels(
            gold, predicted, probabilities, codec.labels
        )
    return _judge_one_label(gold, predicted, probabilities)


def _judge_number(gold: Label, predicted: Label) -> _Judgment:
    """Judges a number by its error."""
    gold_number = convert_regression_label(gold)
    predicted_number = convert_regression_label(predicted)
    return _Judgment(
        badness=abs(predicted_number - gold_number),
        verdict=f"Right: {gold_number:.4g}. Predicted: {predicted_number:.4g}.",
    )


def _judge_several_labels(
    gold: Label,
    predicted: Label,
    probabilities: FloatArray,
    labels: Sequence[str],
) -> _Judgment:
    """Judges labels by the certainty of the worst error, 0 without one.

    `labels` are all labels of the task, in the order of `probabilities`.
    """
    gold_names = class_names_of(gold)
    predicted_names = class_names_of(predicted)
    wrong = {*gold_names} ^ {*predicted_names}
    errors = [labels.index(name) for name in wrong]
    certainties = np.maximum(probabilities, 1 - probabilities)
    verdict = (
        f"Right: {', '.join(gold_names) or 'none'}. "
        f"Predicted: {', '.join(predicted_names) or 'none'}."
    )
    return _Judgment(max(certainties[errors], default=0.0), verdict)


def _judge_one_label(
    gold: Label, predicted: Label, probabilities: FloatArray
) -> _Judgment:
    """Judges a label by its certainty.

    The badness of a right label is its negative certainty, so that the least
    certain right label comes first.
    """
    certainty = probabilities.max()
    badness = certainty if gold != predicted else -certainty
    verdict = f"Right: {gold}. Predicted: {predicted} ({certainty:.3f})."
    return _Judgment(badness, verdict)
