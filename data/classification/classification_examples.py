"""Defines classification examples, and converts them to the network's input."""

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import SupportsFloat, TypeAlias

import numpy as np
from absl import logging

from data.io import tf_examples
from data.text import token_windows
from data.text.tokenization import FullTokenizer

# Matches a word, or an ideograph, which is a word for the tokenizer.
_WORD = re.compile(r"[^\s\u3400-\u4dbf\u4e00-\u9fff]+|\S")

# An example's label: a name, a list of names in multi-label classification, or
# a number in regression, which a table may contain as text.
Label: TypeAlias = str | list[str] | float


@dataclasses.dataclass
class InputExample:
    """A text or a pair of texts, with its label.

    Attributes:
        guid: name or number of the example.
        text_a: the first text.
        text_b: the second text of a pair, or None for a single text.
        label: name of the label. In regression, a number as str or float. In
            multi-label classification, a list of names. None if the label is
            unknown.
        row: cells of the row of a user's table, {column: cell}. None in a train
            set, and in GLUE's tasks.
    """

    guid: str | int
    text_a: str
    text_b: str | None = None
    label: Label | None = None
    row: Mapping[str, object] | None = None


def parse_regression_label(value: object, where: str) -> float:
    """Converts the label of a regression task, such as "2.5", to a number.

    `value` is a cell of a table, of any type.

    Raises:
        ValueError: the label is not a finite number. The message begins with
            `where`, such as the file and the line.
    """
    rating = np.nan
    # float() would convert True, False and "1_000".
    is_odd = isinstance(value, bool) or "_" in str(value)
    if isinstance(value, str | bytes | SupportsFloat) and not is_odd:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            rating = float(value)
    if not abs(rating) <= np.finfo(np.float32).max:
        raise ValueError(
            f"{where}: in regression the label must be a finite number. "
            f"Received: {str(value)[:80]!r}"
        )
    return rating


@dataclasses.dataclass(slots=True)
class ClassificationFeatures:
    """The network's input for one example, and the example's label.

    Attributes:
        input_ids: [max_seq_length], ids of the WordPieces.
        input_mask: [max_seq_length], 1 = a real token.
        segment_ids: [max_seq_length], 1 = token of the second text, or the
            [SEP] after it.
        label_id: index of the label, a number in regression, or 0 or 1 for each
            label in multi-label classification. None = unknown.
        is_cut: True if the text was too long and was truncated.
        weight: weight of the example's loss in training. None means 1.
    """

    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    label_id: int | float | list[int] | None
    is_cut: bool = False
    weight: float | None = None


def convert_single_example(
    ex_index: int,
    example: InputExample,
    label_list: Sequence[str] | None,
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> ClassificationFeatures:
    """Converts a text or a pair of texts to the network's input.

    `token_windows.pack_tokens` shows the inputs, and cuts long texts.

    Args:
        ex_index: index of the example. The first five examples are logged.
        example: the text or pair, and its label.
        label_list: names of the labels, or None in regression.
        max_seq_length: length in WordPieces to which the input is padded or
            cut, at least 3.
        tokenizer: tokenizer of the model.

    Raises:
        ValueError: the label is not in `label_list`, or is not a number in
            regression.
    """
    tokens, first_length, num_cut = token_windows.pack_tokens(
        tokenizer.tokenize(example.text_a),
        tokenizer.tokenize(example.text_b or ""),
        max_seq_length,
    )
    features = ClassificationFeatures(
        label_id=encode_label(example.label, label_list),
        is_cut=num_cut > 0,
        **tokenizer.create_inputs(tokens, first_length, max_seq_length),
    )
    if ex_index < 5:
        logging.debug(
            "*** Example ***\nguid: %s\ntokens: %s\nlabel: %s (id = %s)",
            example.guid,
            " ".join(tokens),
            example.label,
            features.label_id,
        )
    return features


def split_texts(
    example: InputExample, max_seq_length: int, tokenizer: FullTokenizer
) -> list[tuple[str, str]]:
    """Splits each text into the part that a model reads, and the rest.

    A word belongs to the rest if any of its WordPieces is cut.
    """
    texts = [example.text_a, *filter(None, [example.text_b])]
    tokens, first_length, num_cut = token_windows.pack_tokens(
        tokenizer.tokenize(example.text_a),
        tokenizer.tokenize(example.text_b or ""),
        max_seq_length,
    )
    if not num_cut:
        return [(text, "") for text in texts]
    parts = []
    lengths = first_length - 2, len(tokens) - first_length - 1
    for text, num_left in zip(texts, lengths, strict=False):
        end = 0
        for word in _WORD.finditer(text):
            num_left -= len(tokenizer.tokenize(word.group()))
            if num_left < 0:
                break
            end = word.end()
        parts.append((text[:end], text[end:]))
    return parts


def create_joined_features(
    groups: Iterable[tuple[Sequence[InputExample], int | float | None]],
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[ClassificationFeatures]:
    """Yields the features of examples that consist of several inputs each.

    The features of an example are its inputs one after another, each of length
    `max_seq_length`. `groups` contains (inputs, label_id) for each example. The
    inputs have no labels.
    """
    for ex_index, (inputs, label) in enumerate(groups):
        joined = ClassificationFeatures([], [], [], label)
        for example in inputs:
            part = convert_single_example(
                ex_index, example, None, max_seq_length, tokenizer
            )
            joined.input_ids += part.input_ids
            joined.input_mask += part.input_mask
            joined.segment_ids += part.segment_ids
            joined.is_cut |= part.is_cut
        yield joined


def create_window_features(
    examples: Iterable[InputExample],
    label_list: Sequence[str] | None,
    max_seq_length: int,
    tokenizer: FullTokenizer,
    doc_stride: int,
) -> Iterator[list[ClassificationFeatures]]:
    """Cuts texts into windows, and yields the list of each text's windows.

    For example, these are the two windows of a text with `doc_stride` 3:

        [CLS] a tug pulls the barge [SEP]
        [CLS] the barge past two piers [SEP]

    Each window of `max_seq_length` WordPieces gets the label of its text, and
    the weight 1 / (number of the text's windows). `examples` are single texts.
    """

    def windows_of(example: InputExample) -> list[ClassificationFeatures]:
        pieces = tokenizer.tokenize(example.text_a)
        # Create one window even for a text without WordPieces.
        spans = token_windows.cut_spans(
            max(len(pieces), 1), max_seq_length - 2, doc_stride
        )
        parts = [pieces[start : start + length] for start, length in spans]
        return [
            ClassificationFeatures(
                label_id=encode_label(example.label, label_list),
                weight=1 / len(spans),
                **tokenizer.create_inputs(
                    ["[CLS]", *part, "[SEP]"], len(part) + 2, max_seq_length
                ),
            )
            for part in parts
        ]

    return token_windows.log_num_cut(
        map(windows_of, examples),
        lambda windows: len(windows) > 1,
        f"texts were longer than --max_seq_length={max_seq_length} and were "
        f"split into windows (--doc_stride={doc_stride})",
    )


def convert_examples_to_features(
    examples: Sequence[InputExample],
    label_list: Sequence[str] | None,
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[ClassificationFeatures]:
    """Yields the features of the examples, in their order."""
    for ex_index, example in enumerate(examples):
        yield convert_single_example(
            ex_index, example, label_list, max_seq_length, tokenizer
        )


def encode_features(
    features: Iterable[ClassificationFeatures], max_seq_length: int
) -> Iterator[bytes]:
    """Yields serialized features, then logs how many texts were truncated."""
    counted = token_windows.log_num_cut(
        features,
        lambda text_features: text_features.is_cut,
        f"texts were longer than --max_seq_length={max_seq_length} and were "
        "cut",
    )
    return map(encode_classification_features, counted)


def encode_classification_features(features: ClassificationFeatures) -> bytes:
    """Serializes ClassificationFeatures as a tf.train.Example.

    `label_ids` and `example_weights` are missing if they are unknown.
    """
    # Each example is real. In Google's records, 0 marks the padding examples
    # that fill up the last batch.
    values: dict[str, tf_examples.Values] = {"is_real_example": [1]}
    label = features.label_id
    if label is not None:
        values["label_ids"] = label if isinstance(label, list) else [label]
    if features.weight is not None:
        values["example_weights"] = [features.weight]
    return tf_examples.encode_inputs(features, values)


def class_names_of(label: Label) -> list[str]:
    """Returns the one or several names in a label of a classification."""
    return label if isinstance(label, list) else [str(label)]


def regression_value_of(label: Label) -> float:
    """Returns the label of a regression as a number.

    Raises:
        ValueError: the label is neither a number nor the text of a number.
    """
    if isinstance(label, list):
        raise ValueError(f"{label!r} is not the label of a regression")
    return float(label)


def encode_label(
    label: Label | None, label_list: Sequence[str] | None
) -> int | float | list[int] | None:
    """Converts an example's label to the value that its record contains.

    Examples:
        A label becomes its index, a list of labels becomes 0 or 1 for each
        label, and the label of a regression becomes a number:

        >>> encode_label("spam", ["ham", "spam"])
        1
        >>> encode_label(["ham"], ["ham", "spam"])
        [1, 0]
        >>> encode_label("2.5", None)
        2.5

    Args:
        label: the label. None = unknown, and so is the result.
        label_list: names of all labels, None in regression.
    """
    if label is None:
        return None
    if label_list is None:
        return regression_value_of(label)
    if isinstance(label, list):
        return [int(name in label) for name in label_list]
    return label_list.index(label)
