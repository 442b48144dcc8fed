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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from absl import logging

from data.ner import legal_tags
from data.ner.scoring import find_entities
from data.ner.words import find_words
from data.tables import tables
from data.text.token_windows import cut_spans, most_context
from data.text.tokenization import FullTokenizer
from files.atomic import atomic_open
from files.json_files import JsonObject
from files.paths import StrPath


@dataclasses.dataclass(slots=True)
class NerExample:
    """A sentence with tagged words, or a text with annotated spans.

    Attributes:
        guid: name of the example.
        words: the words of the sentence or text.
        labels: the words' tags.
        document: number of the document that contains the sentence.
        text: the text, or None if the file contains words in columns.
        row: {name: value} of the example in the file, without annotations in a
            test set. None in a train set.
    """

    guid: str
    words: list[str]
    labels: list[str]
    document: int
    text: str | None = None
    row: Mapping[str, object] | None = None


class WordPlace(NamedTuple):
    """Where a window contains the first WordPiece of a word.

    Attributes:
        position: index of the WordPiece in the window.
        example_index: index of the example that contains the word.
        word_index: index of the word in the example.
    """

    position: int
    example_index: int
    word_index: int


@dataclasses.dataclass(slots=True)
class NerFeatures:
    """Features of one window.

    Attributes:
        tokens: the WordPieces without padding.
        input_ids: [max_seq_length], ids of the WordPieces.
        input_mask: [max_seq_length], 1 = a real token.
        segment_ids: [max_seq_length], all 0.
        label_ids: [max_seq_length], index of the tag of the word that begins at
            each position, 0 where `label_weights` is 0.
        label_weights: [max_seq_length], 1 = the first WordPiece of each word in
            `words` whose right tag is known. Otherwise 0.
        words: place of each word whose tag is learned and predicted in this
            window, and in no other window.
    """

    tokens: list[str]
    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    label_ids: list[int]
    label_weights: list[float]
    words: list[WordPlace]


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
    label_ids = {label: index for index, label in enumerate(label_list)}
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
            for offset in np.flatnonzero(is_best).tolist():
                if start + offset not in words:
                    continue
                example_index, word_index = words[start + offset]
                label = examples[example_index].labels[word_index]
                position = offset + 1  # The window begins with [CLS].
                if label in label_ids:
                    feature.label_ids[position] = label_ids[label]
                    feature.label_weights[position] = 1.0
                feature.words.append(
                    WordPlace(position, example_index, word_index)
                )
            yield feature


def choose_tags(
    examples: Sequence[NerExample],
    features: Iterable[NerFeatures],
    probabilities: Iterable[np.ndarray],
    labels: Sequence[str],
    only_legal: bool,
) -> tuple[list[list[str]], list[np.ndarray]]:
    """Chooses the tag of each word, as the network predicts it.

    Args:
        examples: the sentences.
        features: windows of the sentences.
        probabilities: for each window, the probabilities of the L tags at each
            position, float [max_seq_length, L].
        labels: names of the L tags.
        only_legal: whether to choose the best legal sequence of tags.

    Returns:
        for each sentence, the tags of its words, and the probabilities of these
        tags, float [words].
    """
    # The probabilities of all tags for each word of each example.
    word_rows = [
        np.zeros((len(example.words), len(labels)), np.float32)
        for example in examples
    ]
    for feature, rows in zip(features, probabilities, strict=True):
        for position, example_index, word_index in feature.words:
            word_rows[example_index][word_index] = rows[position]
    tags = []
    tag_probabilities = []
    for rows in word_rows:
        ids = legal_tags.decode_tags(
            legal_tags.to_scores(rows), labels, only_legal
        )
        tags.append([labels[label_id] for label_id in ids])
        tag_probabilities.append(rows[np.arange(len(ids)), ids])
    return tags, tag_probabilities


def write_columns(
    path: StrPath, examples: Sequence[NerExample], tags: Sequence[list[str]]
) -> None:
    """Writes a line with a word, its right tag and its predicted tag.

    This is the format of conlleval. `tags` are the predicted tags of each
    example. Raises an OSError if the file cannot be written.
    """
    with atomic_open(path) as file:
        for example, predicted in zip(examples, tags, strict=True):
            columns = example.words, example.labels, predicted
            for row in zip(*columns, strict=True):
                file.write(f"{' '.join(row)}\n".encode())
            file.write(b"\n")
    logging.info("Wrote %s", path)


def write_predictions(
    path: StrPath,
    examples: Sequence[NerExample],
    tags: Sequence[list[str]],
    probabilities: Sequence[np.ndarray],
    prefix: str = "",
) -> None:
    """Writes predicted entities as JSON lines, one object for each example.

    An object contains the `guid`, the `text`, the `words` and the row of an
    example, then the predicted `labels` of the words, the predicted `entities`
    ([start, end, label], with positions in characters) and their
    `probabilities`. An entity is as probable as its least probable tag.
    `correct` states whether the entities are the right ones, if any are known.
    If the row has a field of that name, the new one begins with `predicted_`.

    Args:
        path: path of the file.
        examples: the examples.
        tags: predicted tags of each example.
        probabilities: probabilities of these tags, float [words].
        prefix: beginning of the names of `labels` and `entities`, to tell them
            from the right ones in the row.

    Raises:
        OSError: the file cannot be written.
    """
    is_known = any({*example.labels} - {"O"} for example in examples)
    with atomic_open(path) as file:
        predictions = zip(examples, tags, probabilities, strict=True)
        for example, labels, tag_probabilities in predictions:
            words = example.words
            text = " ".join(words) if example.text is None else example.text
            word_spans = find_words(text, words)
            entities = find_entities(labels)
            spans = [
                [word_spans[first][0], word_spans[after - 1][1], entity_type]
                for entity_type, first, after in entities
            ]
            answer: JsonObject = {
                f"{prefix}labels": labels,
                f"{prefix}entities": spans,
                "probabilities": [
                    round(float(min(tag_probabilities[first:after])), 6)
                    for _, first, after in entities
                ],
            }
            if is_known:
                answer["correct"] = entities == find_entities(example.labels)
            entry = {"guid": example.guid, "text": text, "words": words}
            entry |= tables.add_answer(example.row or {}, answer)
            line = json.dumps(entry, ensure_ascii=False)
            # JSON can contain a lone surrogate, which UTF-8 cannot encode.
            file.write(f"{line}\n".encode(errors="backslashreplace"))
    logging.info("Wrote %d sentences to %s", len(tags), path)
