"""Named entities (CoNLL-2003; paper 5.3): words with tags, and features.

A word's tag is that of its first WordPiece; the others do not count:

    [CLS] Jim   Hen   ##son was a puppet ##eer [SEP]
          B-PER I-PER  -    O   O O       -

A sentence, or with document context a whole document, is one text; a text
that is too long is cut into windows that overlap, and each word counts in
the window that has the most context around it. ner_scoring.py scores tags.
"""

import collections
import dataclasses
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from absl import logging

from data import files, records
from data.examples import check_labels
from data.ner_scoring import to_scheme
from data.tokenization import FullTokenizer
from data.windows import check_is_max_context, cut_spans
from files.atomic import atomic_open

_SET_FILES = {
    "train": ("train.txt", "eng.train"),
    "dev": ("valid.txt", "dev.txt", "eng.testa"),
    "test": ("test.txt", "eng.testb"),
}


@dataclasses.dataclass(slots=True)
class NerExample:
    """One sentence.

    Attributes:
        guid: str, names the example.
        words: list of str.
        labels: list of str, the words' tags.
        document: int, the number of the document it is in.
    """

    guid: str
    words: list
    labels: list
    document: int


@dataclasses.dataclass(slots=True)
class NerFeatures:
    """One window.

    Attributes:
        tokens: list of str, without padding.
        input_ids: list of int, [max_seq_length].
        input_mask: list of int, [max_seq_length], 1 = a real token.
        segment_ids: list of int, [max_seq_length], all 0.
        label_ids: list of int, [max_seq_length], 0 where none counts.
        label_weights: list of float, [max_seq_length], 1 = the first
            WordPiece of a word that counts in this window.
        words: list of (position, example, word) of the words that count.
    """

    tokens: list
    input_ids: list
    input_mask: list
    segment_ids: list
    label_ids: list
    label_weights: list
    words: list


class NerProcessor:
    """Reads the sets of a data folder, in CoNLL-2003's layout.

    A line holds a word, then any columns, then its tag, separated by white
    space; an empty line ends a sentence, a line of -DOCSTART- a document.
    Tags may be of any scheme of ner_scoring.py, such as IOB1 as first
    released. They become IOB2, or the scheme of the labels that are given.

    Args:
        labels: list of str; None for those of the train set, "O" first.

    Raises:
        ValueError: the labels are fewer than two, or not distinct.
    """

    def __init__(self, labels: list[str] | None = None) -> None:
        if labels is not None:
            check_labels(labels, "given")
        self._labels = labels

    def get_train_examples(
        self, data_dir: str | os.PathLike[str]
    ) -> list[NerExample]:
        """Returns the list of NerExamples to train on.

        Raises:
            OSError: the file is not there.
            ValueError: a line is not as it should be.
        """
        return self._read_set(data_dir, "train")

    def get_dev_examples(
        self, data_dir: str | os.PathLike[str]
    ) -> list[NerExample]:
        """Returns the list of NerExamples to evaluate on; errors as train."""
        return self._read_set(data_dir, "dev")

    def get_test_examples(
        self, data_dir: str | os.PathLike[str]
    ) -> list[NerExample]:
        """Returns the list of NerExamples to predict; errors as train."""
        return self._read_set(data_dir, "test")

    def get_labels(self, data_dir: str | os.PathLike[str]) -> list[str]:
        """Returns the list of labels; errors as get_train_examples."""
        if self._labels is None:
            found = {
                label
                for example in self._read_set(data_dir, "train")
                for label in example.labels
            }
            if found == {"O"}:
                raise ValueError(
                    f"the train set in {data_dir} has no tag but O; mark the "
                    "entities to learn, such as B-PER and I-PER"
                )
            self._labels = ["O", *sorted(found - {"O"})]
        return self._labels

    def _read_set(
        self, data_dir: str | os.PathLike[str], name: str
    ) -> list[NerExample]:
        for file_name in _SET_FILES[name]:
            path = os.path.join(data_dir, file_name)
            if os.path.isfile(path):
                return read_conll(path, name, self._labels)
        raise FileNotFoundError(
            f"there is no {name} set in {data_dir}: it must be named "
            f"{' or '.join(_SET_FILES[name])}"
        )


def read_conll(
    path: str | os.PathLike[str],
    set_type: str,
    labels: Sequence[str] | None = None,
) -> list[NerExample]:
    """Returns the list of NerExamples of a file; see NerProcessor.

    Args:
        path: the file.
        set_type: str, begins the guids; in a "test" set tags may be missing.
        labels: list of str that the tags must be in, and whose scheme they
            become; None for any, in IOB2.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line has no tag, or one that is none, or there is no
            sentence; the message names the file and the line.
    """
    examples = []
    for document, lines in _read_sentences(path):
        tags = [
            _read_tag(columns, f"{path}, line {number}", set_type)
            for number, columns in lines
        ]
        tags = to_scheme(tags, labels or ())
        for tag, (number, _) in zip(tags, lines, strict=True):
            if labels is not None and tag not in labels:
                raise ValueError(
                    f"{path}, line {number}: unknown tag {tag!r}; the tags "
                    f"are {list(labels)}"
                )
        words = [columns[0] for _, columns in lines]
        guid = f"{set_type}-{len(examples) + 1}"
        examples.append(NerExample(guid, words, tags, document))
    if not examples:
        raise ValueError(f"{path} holds no sentence")
    return examples


def _read_sentences(
    path: str | os.PathLike[str],
) -> Iterator[tuple[int, list[tuple[int, list[str]]]]]:
    """Yields (number of the document, [(line number, columns)])."""
    document, sentence = 0, []
    dropped = collections.Counter()
    for number, line in enumerate(files.read_lines(path, dropped), start=1):
        # Other white space, such as that which does not break, is the word's.
        columns = re.findall("[^ \t\r]+", line.removeprefix("\ufeff"))
        if columns and columns[0] != "-DOCSTART-":
            sentence.append((number, columns))
            continue
        if sentence:
            yield document, sentence
            sentence = []
        document += bool(columns)
    if sentence:
        yield document, sentence
    if warning := files.dropped_bytes_warning(dropped):
        logging.warning(warning)


def _read_tag(columns: list[str], where: str, set_type: str) -> str:
    """Returns the tag in the last column, checked."""
    if len(columns) == 1:
        if set_type == "test":
            return "O"
        raise ValueError(
            f"{where}: a line must hold a word and, last, its tag. Received: "
            f"{columns[0]!r}"
        )
    if not re.fullmatch("O|[BIESLU]-.+", columns[-1]):
        raise ValueError(
            f"{where}: the last column must be a tag, O or TYPE after B-, I-, "
            "E-, S-, L- or U- (the schemes IOB, IOE, IOBES and BILOU). "
            f"Received: {columns[-1]!r}"
        )
    return columns[-1]


def create_features(
    examples: Sequence[NerExample],
    label_list: Sequence[str],
    max_seq_length: int,
    tokenizer: FullTokenizer,
    document_context: bool = False,
) -> Iterator[NerFeatures]:
    """Yields the NerFeatures of each window.

    Args:
        examples: list of NerExamples.
        label_list: list of str.
        max_seq_length: WordPieces in a window, at least 3.
        tokenizer: a FullTokenizer.
        document_context: whether a text is a document, not a sentence.

    Raises:
        ValueError: max_seq_length is too small, or a label is not in the
            list.
    """
    max_tokens = max_seq_length - 2
    if max_tokens < 1:
        raise ValueError(
            "max_seq_length must be at least 3, for [CLS], a token and [SEP]. "
            f"Received: max_seq_length={max_seq_length}"
        )
    label_ids = {label: i for i, label in enumerate(label_list)}
    numbered = enumerate(examples)
    for _, text in itertools.groupby(
        numbered, lambda pair: pair[1].document if document_context else pair[0]
    ):
        tokens, words = _tokenize(text, tokenizer)
        doc_spans = cut_spans(len(tokens), max_tokens, max(max_tokens // 2, 1))
        for doc_span_index, (start, length) in enumerate(doc_spans):
            counts = check_is_max_context(
                doc_spans, doc_span_index, np.arange(start, start + length)
            )
            feature = _create_window(
                tokens[start : start + length], tokenizer, max_seq_length
            )
            for i in np.flatnonzero(counts).tolist():
                if words[start + i] is None:
                    continue
                example_index, word_index, label = words[start + i]
                if label not in label_ids:
                    raise ValueError(
                        f"example {examples[example_index].guid} has the label "
                        f"{label!r}, which is not in the label list "
                        f"{label_list}"
                    )
                # One further for [CLS].
                feature.label_ids[i + 1] = label_ids[label]
                feature.label_weights[i + 1] = 1.0
                feature.words.append((i + 1, example_index, word_index))
            yield feature


def _tokenize(
    numbered_examples: Iterable[tuple[int, NerExample]],
    tokenizer: FullTokenizer,
) -> tuple[list[str], list[tuple[int, int, str] | None]]:
    """Returns the tokens of sentences, and the word each is the first of."""
    tokens, words = [], []
    for example_index, example in numbered_examples:
        for word_index, word in enumerate(example.words):
            # Every word has a token to be tagged by, be it of characters
            # that the tokenizer drops.
            pieces = tokenizer.tokenize(word) or ["[UNK]"]
            label = example.labels[word_index]
            tokens += pieces
            words.append((example_index, word_index, label))
            words += [None] * (len(pieces) - 1)
    return tokens, words


def _create_window(
    tokens: list[str], tokenizer: FullTokenizer, max_seq_length: int
) -> NerFeatures:
    """Returns the NerFeatures of one window, no word counting yet."""
    tokens = ["[CLS]", *tokens, "[SEP]"]
    padding = [0] * (max_seq_length - len(tokens))
    return NerFeatures(
        tokens=tokens,
        input_ids=tokenizer.convert_tokens_to_ids(tokens) + padding,
        input_mask=[1] * len(tokens) + padding,
        segment_ids=[0] * max_seq_length,
        label_ids=[0] * max_seq_length,
        label_weights=[0.0] * max_seq_length,
        words=[],
    )


def encode_ner_features(feature: NerFeatures) -> bytes:
    """Serializes NerFeatures as a tf.train.Example, bytes."""
    return records.encode_example(
        {
            "input_ids": feature.input_ids,
            "input_mask": feature.input_mask,
            "segment_ids": feature.segment_ids,
            "label_ids": feature.label_ids,
            "label_weights": feature.label_weights,
        }
    )


def decode_predictions(
    examples: Sequence[NerExample],
    features: Iterable[NerFeatures],
    predicted_ids: Iterable[np.ndarray],
    label_list: Sequence[str],
) -> list[list[str]]:
    """Returns the predicted tags of each example, a list of lists of str.

    Args:
        examples: list of NerExamples.
        features: NerFeatures of them, from create_features.
        predicted_ids: for each feature, int [max_seq_length], the label
            that scores highest at each position.
        label_list: list of str.

    Raises:
        ValueError: there are more or fewer predictions than features.
    """
    tags = [["O"] * len(example.words) for example in examples]
    for feature, ids in zip(features, predicted_ids, strict=True):
        for position, example_index, word_index in feature.words:
            tags[example_index][word_index] = label_list[int(ids[position])]
    return tags


def write_predictions(
    path: str | os.PathLike[str],
    examples: Iterable[NerExample],
    tags: Iterable[list[str]],
) -> None:
    """Writes lines of word, right and predicted tag, as conlleval reads them.

    Args:
        path: the file.
        examples: list of NerExamples.
        tags: what decode_predictions gives.

    Raises:
        OSError: the file cannot be written.
    """
    with atomic_open(path) as writer:
        for example, predicted in zip(examples, tags, strict=True):
            for line in zip(
                example.words, example.labels, predicted, strict=True
            ):
                writer.write(f"{' '.join(line)}\n".encode())
            writer.write(b"\n")


def write_json_lines(path, examples, tags):
    """Writes each sentence as a JSON object: guid, words, labels.

    Args:
        path: the file.
        examples: list of NerExamples.
        tags: as `write_predictions`.

    Raises:
        OSError: the file cannot be written.
    """
    with atomic_open(path) as writer:
        for example, labels in zip(examples, tags, strict=True):
            entry = {
                "guid": example.guid,
                "words": example.words,
                "labels": labels,
            }
            line = json.dumps(entry, ensure_ascii=False)
            writer.write(f"{line}\n".encode())
