"""Encodes the texts of a classification as records, cut or in windows."""

import abc
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from data.arrays import Batches, FloatArray
from data.classification import label_codec
from data.classification.classification_examples import InputExample
from data.classification.classification_features import (
    convert_examples_to_features,
    create_window_features,
    encode_classification_features,
    encode_features,
)
from data.sets.set_names import SetName
from data.text.tokenization import FullTokenizer
from training import task

_EncodedSet: TypeAlias = task.EncodedSet[InputExample, int]
# A length that no text reaches, in WordPieces.
_UNLIMITED_LENGTH = 2**31


class TextEncoding(abc.ABC):
    """Encodes texts as records, and combines the outputs of the records.

    Args:
        labels: labels in the order of the model's outputs, None in regression.
        max_seq_length: length of a record in WordPieces.
        tokenizer: tokenizer of the model.

    Attributes:
        has_weights: whether the records weight the loss of their examples.
        max_text_length: WordPieces of a text that the model reads.
    """

    has_weights: bool

    def __init__(
        self,
        labels: Sequence[str] | None,
        max_seq_length: int,
        tokenizer: FullTokenizer,
    ) -> None:
        self.max_text_length = max_seq_length
        self._labels = labels
        self._max_seq_length = max_seq_length
        self._tokenizer = tokenizer

    @abc.abstractmethod
    def check_examples(
        self, set_name: SetName, examples: Sequence[InputExample]
    ) -> None:
        """Raises a ValueError if the examples of a set cannot be encoded."""

    @abc.abstractmethod
    def encode(
        self, examples: Sequence[InputExample]
    ) -> Iterator[tuple[bytes, int]]:
        """Yields the records, each with the index of its example."""

    @abc.abstractmethod
    def pool(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Batches[FloatArray]:
        """Combines the outputs of the records to the outputs of the texts."""


class CutTextEncoding(TextEncoding):
    """Encodes each text or pair as one record, which cuts a long one."""

    has_weights = False

    def check_examples(
        self, set_name: SetName, examples: Sequence[InputExample]
    ) -> None:
        """Accepts all examples."""

    def encode(
        self, examples: Sequence[InputExample]
    ) -> Iterator[tuple[bytes, int]]:
        """Yields one record for each example, with its index."""
        features = convert_examples_to_features(
            examples, self._labels, self._max_seq_length, self._tokenizer
        )
        encoded = encode_features(features, self._max_seq_length)
        for index, record in enumerate(encoded):
            yield record, index

    def pool(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Batches[FloatArray]:
        """Returns the batches, whose records are the texts."""
        return batches


class WindowEncoding(TextEncoding):
    """Encodes each text as overlapping windows, for --doc_stride.

    Args:
        labels: labels in the order of the model's outputs, None in regression.
        max_seq_length: length of a record in WordPieces.
        tokenizer: tokenizer of the model.
        doc_stride: WordPieces between the starts of two windows.
    """

    has_weights = True

    def __init__(
        self,
        labels: Sequence[str] | None,
        max_seq_length: int,
        tokenizer: FullTokenizer,
        doc_stride: int,
    ) -> None:
        super().__init__(labels, max_seq_length, tokenizer)
        # Windows read the whole text.
        self.max_text_length = _UNLIMITED_LENGTH
        self._doc_stride = doc_stride

    def check_examples(
        self, set_name: SetName, examples: Sequence[InputExample]
    ) -> None:
        """Raises a ValueError if a set contains pairs."""
        if any(example.text_b for example in examples):
            raise ValueError(
                f"--doc_stride={self._doc_stride} is for single texts, but the "
                f"{set_name} set contains pairs; remove the flag, or use "
                "single texts"
            )

    def encode(
        self, examples: Sequence[InputExample]
    ) -> Iterator[tuple[bytes, int]]:
        """Yields the windows of each text, with the index of the text."""
        windows = create_window_features(
            examples,
            self._labels,
            self._max_seq_length,
            self._tokenizer,
            self._doc_stride,
        )
        for index, windows_of_text in enumerate(windows):
            for window in windows_of_text:
                yield encode_classification_features(window), index

    def pool(
        self, encoded_set: _EncodedSet, batches: Batches[FloatArray]
    ) -> Batches[FloatArray]:
        """Combines the outputs of each text's windows."""
        # The index of each text's first record.
        first_records = [
            record_index
            for record_index, text_index in enumerate(
                encoded_set.decoding_contexts
            )
            if record_index == 0
            or text_index != encoded_set.decoding_contexts[record_index - 1]
        ]
        return label_codec.pool_batches(batches, first_records)


def create_text_encoding(
    labels: Sequence[str] | None,
    max_seq_length: int,
    tokenizer: FullTokenizer,
    doc_stride: int,
) -> TextEncoding:
    """Creates the encoding that --doc_stride selects.

    Args:
        labels: labels in the order of the model's outputs, None in regression.
        max_seq_length: length of a record in WordPieces.
        tokenizer: tokenizer of the model.
        doc_stride: WordPieces between the starts of two windows, 0 to cut long
            texts instead.
    """
    if doc_stride:
        return WindowEncoding(labels, max_seq_length, tokenizer, doc_stride)
    return CutTextEncoding(labels, max_seq_length, tokenizer)
