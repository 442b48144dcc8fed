"""Converts examples of a classification to inputs, and inputs to records."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from absl import logging

from data.classification.classification_examples import (
    InputExample,
    convert_regression_label,
    encode_label,
)
from data.io import tf_examples
from data.text import token_windows
from data.text.tokenization import FullTokenizer


@dataclasses.dataclass(slots=True)
class ClassificationFeatures:
    """The network's input for one example, and the example's label.

    Attributes:
        input_ids: [max_seq_length], ids of the WordPieces.
        input_mask: [max_seq_length], 1 = a real token.
        segment_ids: [max_seq_length], 1 = token of the second text, or the
            [SEP] after it.
        label_id: index of the label, a number in regression, or 0 or 1 for each
            label in multi-label classification, or None if it is unknown.
        is_cut: True if the text was too long and was truncated.
        weight: weight of the example's loss in training. None means 1.
    """

    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    label_id: int | float | list[int] | None
    is_cut: bool = False
    weight: float | None = None


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


def convert_single_example(
    ex_index: int,
    example: InputExample,
    label_list: Sequence[str] | None,
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> ClassificationFeatures:
    """Converts a text or a pair of texts to the network's input.

    `token_windows.join_tokens` shows the inputs, and cuts long texts.

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
    tokens, first_length, num_cut = token_windows.join_tokens(
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


def create_window_features(
    examples: Iterable[InputExample],
    labels: Sequence[str] | None,
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

    def create_windows(example: InputExample) -> list[ClassificationFeatures]:
        parts = token_windows.cut_windows(
            tokenizer.tokenize(example.text_a), max_seq_length, doc_stride
        )
        return [
            ClassificationFeatures(
                label_id=encode_label(example.label, labels),
                weight=1 / len(parts),
                **tokenizer.create_inputs(
                    ["[CLS]", *part, "[SEP]"], len(part) + 2, max_seq_length
                ),
            )
            for part in parts
        ]

    return token_windows.log_num_cut(
        map(create_windows, examples),
        lambda windows: len(windows) > 1,
        f"texts were longer than --max_seq_length={max_seq_length} and were "
        f"split into windows (--doc_stride={doc_stride})",
    )


class InputGroup(NamedTuple):
    """The inputs of an example that consists of several.

    Attributes:
        inputs: the inputs, without labels.
        label_id: label of the example, None if it is unknown.
    """

    inputs: Sequence[InputExample]
    label_id: int | float | None


def create_joined_features(
    groups: Iterable[InputGroup],
    max_seq_length: int,
    tokenizer: FullTokenizer,
) -> Iterator[ClassificationFeatures]:
    """Yields the features of examples that consist of several inputs each.

    The features of an example are its inputs one after another, each of length
    `max_seq_length`.
    """
    for ex_index, group in enumerate(groups):
        joined = ClassificationFeatures([], [], [], group.label_id)
        for example in group.inputs:
            part = convert_single_example(
                ex_index, example, None, max_seq_length, tokenizer
            )
            joined.input_ids += part.input_ids
            joined.input_mask += part.input_mask
            joined.segment_ids += part.segment_ids
            joined.is_cut |= part.is_cut
        yield joined


def create_pair_features(
    examples: Sequence[InputExample],
    max_seq_length: int,
    tokenizer: FullTokenizer,
    max_score: float = 1.0,
) -> Iterator[ClassificationFeatures]:
    """Converts the two texts of each pair to separate inputs for the network.

    Yields:
        ClassificationFeatures: input_ids, input_mask and segment_ids contain
        the two texts one after another, as lists of int, [2 * max_seq_length].
        label_id is (label of the pair) / `max_score`, or None if the label is
        None.
    """

    def split_pair(pair: InputExample) -> InputGroup:
        texts = [
            InputExample(pair.guid, pair.text_a),
            InputExample(pair.guid, pair.text_b or ""),
        ]
        if pair.label is None:
            return InputGroup(texts, None)
        score = convert_regression_label(pair.label) / max_score
        return InputGroup(texts, score)

    groups = map(split_pair, examples)
    return create_joined_features(groups, max_seq_length, tokenizer)


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
