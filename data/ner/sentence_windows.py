"""Cuts tagged sentences into windows (CoNLL-2003, section 5.3 of the paper).

The tag of a word is learned and predicted at its first WordPiece. The outputs
at its other WordPieces (-) are ignored:

    [CLS] Jim   Hen   ##son was a puppet ##eer [SEP]
          B-PER I-PER  -    O   O O       -

By default, each sentence is one text. With --document_context, each document is
one text. A text that is too long is cut into overlapping windows. If several
windows contain a word, only the window with the most context around the word is
used to train on the word's tag and to predict it.
"""

import dataclasses
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from absl import logging

from data.io import records
from data.ner.scoring import find_entities
from data.ner.words import find_words
from data.text.token_windows import cut_spans, most_context
from data.text.tokenization import FullTokenizer
from files.atomic import atomic_open
from files.paths import StrPath


@dataclasses.dataclass(slots=True)
class NerExample:
    """A sentence with tagged words, or a text with annotated spans.

    Attributes:
        guid: str, name of the example.
        words: list of str, the words of the sentence or text.
        labels: list of str, the words' tags.
        document: int, number of the document that contains the sentence.
        text: str, the text, or None if the file contains words in columns.
    """

    guid: str
    words: list[str]
    labels: list[str]
    document: int
    text: str | None = None


@dataclasses.dataclass(slots=True)
class NerFeatures:
    """Features of one window.

    Attributes:
        tokens: list of str, the WordPieces without padding.
        input_ids: list of int, [max_seq_length].
        input_mask: list of int, [max_seq_length], 1 = a real token.
        segment_ids: list of int, [max_seq_length], all 0.
        label_ids: list of int, [max_seq_length], index of the tag of the word
            that begins at each position, 0 where `label_weights` is 0.
        label_weights: list of float, [max_seq_length], 1 = the first WordPiece
            of each word in `words` whose right tag is known. Otherwise 0.
        words: list of (position in the window, index of the example, index of
            the word in the example) of each word whose tag is learned and
            predicted in this window, and in no other window.
    """

    tokens: list[str]
    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    label_ids: list[int]
    label_weights: list[float]
    words: list[tuple[int, int, int]]


def create_features(
    examples: Sequence[NerExample],
    label_list: Sequence[str],
    max_seq_length: int,
    tokenizer: FullTokenizer,
    document_context: bool = False,
) -> Iterator[NerFeatures]:
    """Cuts sentences into windows, and yields the NerFeatures of each window.

    With `document_context`, windows are cut from complete documents instead of
    sentences. `max_seq_length` is at least 3.
    """
    max_tokens = max_seq_length - 2
    label_ids = {label: i for i, label in enumerate(label_list)}
    numbered = enumerate(examples)
    for _, text in itertools.groupby(
        numbered, lambda pair: pair[1].document if document_context else pair[0]
    ):
        doc_tokens: list[str] = []
        # {index of a word's first WordPiece: (index of the sentence, index of
        # the word in the sentence)}
        words: dict[int, tuple[int, int]] = {}
        for example_index, example in text:
            for word_index, word in enumerate(example.words):
                words[len(doc_tokens)] = example_index, word_index
                # Every word needs a token, whose output predicts the word's
                # tag, even if the tokenizer drops all characters of the word.
                doc_tokens += tokenizer.tokenize(word) or ["[UNK]"]
        doc_spans = cut_spans(
            len(doc_tokens), max_tokens, max(max_tokens // 2, 1)
        )
        best_windows = most_context(doc_spans)
        for doc_span_index, (start, length) in enumerate(doc_spans):
            tokens = ["[CLS]", *doc_tokens[start : start + length], "[SEP]"]
            feature = NerFeatures(
                tokens=tokens,
                **tokenizer.create_inputs(tokens, len(tokens), max_seq_length),
                label_ids=[0] * max_seq_length,
                label_weights=[0.0] * max_seq_length,
                words=[],
            )
            is_best = best_windows[start : start + length] == doc_span_index
            for i in np.flatnonzero(is_best).tolist():
                if start + i not in words:
                    continue
                example_index, word_index = words[start + i]
                label = examples[example_index].labels[word_index]
                # Add 1 to i, because the window begins with [CLS].
                if label in label_ids:
                    feature.label_ids[i + 1] = label_ids[label]
                    feature.label_weights[i + 1] = 1.0
                feature.words.append((i + 1, example_index, word_index))
            yield feature


def encode_ner_features(feature: NerFeatures) -> bytes:
    """Serializes NerFeatures as a tf.train.Example."""
    names = ("label_ids", "label_weights")
    labels = {name: getattr(feature, name) for name in names}
    return records.encode_inputs(feature, labels)


def select_words(
    examples: Sequence[NerExample],
    features: Iterable[NerFeatures],
    values: Iterable[np.ndarray],
    num_labels: int,
) -> list[np.ndarray]:
    """Selects the values at the first WordPiece of each word.

    Args:
        examples: the sentences.
        features: windows of the sentences.
        values: for each window, values of all tags at each position, such as
            logits, float [max_seq_length, num_labels].
        num_labels: number of tags.

    Returns:
        for each sentence, the values of its words, float [words, num_labels].
    """
    found = [
        np.zeros((len(example.words), num_labels), np.float32)
        for example in examples
    ]
    for feature, rows in zip(features, values, strict=True):
        for position, example_index, word_index in feature.words:
            found[example_index][word_index] = rows[position]
    return found


def write_predictions(
    output_dir: StrPath,
    examples: Sequence[NerExample],
    tags: Sequence[list[str]],
) -> None:
    """Writes predicted tags to test_predictions.txt and predictions.jsonl.

    A line of test_predictions.txt contains a word, its right tag and its
    predicted tag, in the format of conlleval. A line of predictions.jsonl is a
    JSON object with the name (`guid`), the words and the predicted `labels` of
    a sentence. If the input was a file of texts with spans, the object also
    contains the text and its predicted `entities`, a list of [start, end,
    label] with positions in characters.

    `tags` are the predicted tags of each example.

    Raises:
        OSError: a file cannot be written.
    """
    path = os.path.join(output_dir, "test_predictions.txt")
    with (
        atomic_open(path) as table,
        atomic_open(os.path.join(output_dir, "predictions.jsonl")) as lines,
    ):
        for example, predicted in zip(examples, tags, strict=True):
            for row in zip(
                example.words, example.labels, predicted, strict=True
            ):
                table.write(f"{' '.join(row)}\n".encode())
            table.write(b"\n")
            entry: dict[str, Any] = {
                "guid": example.guid,
                "words": example.words,
                "labels": predicted,
            }
            if example.text is not None:
                entry["text"] = example.text
                places = find_words(example.text, example.words)
                entry["entities"] = [
                    [places[first][0], places[last - 1][1], kind]
                    for kind, first, last in find_entities(predicted)
                ]
            line = json.dumps(entry, ensure_ascii=False)
            lines.write(f"{line}\n".encode())
    logging.info("Wrote %d sentences to %s", len(tags), path)
