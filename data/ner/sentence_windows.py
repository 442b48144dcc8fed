"""Cuts tagged sentences into windows, and joins what the windows predict.

The windows follow section 5.3 of the paper (CoNLL-2003). The tag of a word is
learned and predicted at its first WordPiece. The outputs at its other
WordPieces (-) are ignored:

    [CLS] Jim   Hen   ##son was a puppet ##eer [SEP]
          B-PER I-PER  -    O   O O       -

By default, each sentence is one text. With --document_context, each document is
one text. A text that is too long is cut into overlapping windows. If several
windows contain a word, only the window with the most context around the word is
used to train on the word's tag and to predict it. tag_decoding.py then chooses
the tags of a sentence.

L = number of tags.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from data.arrays import BoolArray, FloatArray
from data.ner.ner_examples import NerExample
from data.ner.tag_decoding import decode_tags
from data.probabilities import to_log_probabilities
from data.text.token_windows import cut_spans, find_max_context_windows
from data.text.tokenization import FullTokenizer


class WordPosition(NamedTuple):
    """The position of a word's first WordPiece in a window.

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
        words: position of each word whose tag is learned and predicted in this
            window, and in no other window.
    """

    tokens: list[str]
    input_ids: list[int]
    input_mask: list[int]
    segment_ids: list[int]
    label_ids: list[int]
    label_weights: list[float]
    words: list[WordPosition]


def create_ner_features(
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
    label_ids = {label: index for index, label in enumerate(label_list)}
    for text in _join_texts(examples, tokenizer, document_context):
        for window in _cut_text(len(text.tokens), max_seq_length - 2):
            end = window.start + window.length
            tokens = ["[CLS]", *text.tokens[window.start : end], "[SEP]"]
            words = text.word_positions(window)
            id_of_position = _label_ids_of_words(words, examples, label_ids)
            positions = range(max_seq_length)
            yield NerFeatures(
                tokens=tokens,
                **tokenizer.create_inputs(tokens, len(tokens), max_seq_length),
                label_ids=[
                    id_of_position.get(position, 0) for position in positions
                ],
                label_weights=[
                    float(position in id_of_position) for position in positions
                ],
                words=words,
            )


class _Window(NamedTuple):
    """A window of a text.

    Attributes:
        start: index of its first WordPiece in the text.
        length: number of its WordPieces.
        is_best: bool [length], whether the window is the one with the most
            context around each of its WordPieces.
    """

    start: int
    length: int
    is_best: BoolArray


@dataclasses.dataclass(slots=True)
class _TokenizedText:
    """The WordPieces of a sentence, or of all sentences of a document.

    Attributes:
        tokens: the WordPieces.
        words: {index of a WordPiece: position of the word that begins at this
            WordPiece}, as if the text were the window.
    """

    tokens: list[str] = dataclasses.field(default_factory=list)
    words: dict[int, WordPosition] = dataclasses.field(default_factory=dict)

    def word_positions(self, window: _Window) -> list[WordPosition]:
        """Returns the positions of the words whose tags a window predicts."""
        return [
            # The window begins with [CLS].
            self.words[window.start + offset]._replace(position=offset + 1)
            for offset in np.flatnonzero(window.is_best).tolist()
            if window.start + offset in self.words
        ]


def _join_texts(
    examples: Sequence[NerExample],
    tokenizer: FullTokenizer,
    document_context: bool,
) -> Iterator[_TokenizedText]:
    """Yields the texts to cut: each sentence, or with context each document."""
    for _, sentences in itertools.groupby(
        enumerate(examples),
        lambda pair: pair[1].document_index if document_context else pair[0],
    ):
        text = _TokenizedText()
        for example_index, example in sentences:
            for word_index, word in enumerate(example.words):
                position = len(text.tokens)
                text.words[position] = WordPosition(
                    position, example_index, word_index
                )
                # Every word needs a token, whose output predicts the word's
                # tag, even if the tokenizer drops all characters of the word.
                text.tokens += tokenizer.tokenize(word) or ["[UNK]"]
        yield text


def _cut_text(num_wordpieces: int, max_tokens: int) -> Iterator[_Window]:
    """Cuts a text of `num_wordpieces` WordPieces into windows."""
    spans = cut_spans(num_wordpieces, max_tokens, max(max_tokens // 2, 1))
    best_windows = find_max_context_windows(spans)
    for index, (start, length) in enumerate(spans):
        is_best = best_windows[start : start + length] == index
        yield _Window(start, length, is_best)


def _label_ids_of_words(
    words: Iterable[WordPosition],
    examples: Sequence[NerExample],
    label_ids: Mapping[str, int],
) -> dict[int, int]:
    """Returns {position: id of the tag} of the words with known tags."""
    id_of_position = {}
    for position, example_index, word_index in words:
        tag = examples[example_index].tags[word_index]
        if tag in label_ids:
            id_of_position[position] = label_ids[tag]
    return id_of_position


class ChosenTags(NamedTuple):
    """The predicted tags of sentences.

    Attributes:
        tags: for each sentence, the tags of its words.
        probabilities: for each sentence, the probabilities of these tags, float
            [words].
    """

    tags: list[list[str]]
    probabilities: list[FloatArray]


def choose_tags(
    examples: Sequence[NerExample],
    features: Iterable[NerFeatures],
    probabilities: Iterable[FloatArray],
    labels: Sequence[str],
    legal_tags: bool,
) -> ChosenTags:
    """Chooses the tag of each word, as the network predicts it.

    Args:
        examples: the sentences, in the order of the result.
        features: windows of the sentences.
        probabilities: for each window, the probabilities of the L tags at each
            position, float [max_seq_length, L].
        labels: names of the L tags, in the order of the probabilities.
        legal_tags: whether to choose the best legal sequence of tags.
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
        ids = decode_tags(to_log_probabilities(rows), labels, legal_tags)
        tags.append([labels[label_id] for label_id in ids])
        tag_probabilities.append(rows[np.arange(len(ids)), ids])
    return ChosenTags(tags, tag_probabilities)
