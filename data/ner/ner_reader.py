"""Reads sentences with tagged words, or texts with spans of named entities."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from absl import logging

from data.ner import column_files, span_files, tag_names
from data.ner.entity_scoring import to_scheme
from data.ner.ner_example import NerExample
from data.ner.ner_options import ColumnOptions, NerOptions
from data.processors.file_processor import FileProcessor
from data.processors.set_names import BaseSet
from data.tables.data_file_options import DataFileOptions
from data.tables.row_keys import key_of
from data.tables.table_formats import format_of
from files.paths import StrPath
from model_folders.labels import check_labels

# A longer sentence, alone in its file, is probably several sentences.
_MAX_SENTENCE_WORDS = 100


class NerProcessor(FileProcessor[NerExample, NerOptions]):
    """Reads the sets of a task with named entities.

    Files named .json and .jsonl contain texts with spans, or sentences with
    tags, as span_files.py describes. Other files are in the layout of
    CoNLL-2003: a line contains a word and its tag in columns. Tabs separate the
    columns if the first line contains a tab. Otherwise, spaces separate them.
    An empty line ends a sentence, and a line with -DOCSTART- begins a document.
    Comments begin with #. All other lines contain the same number of columns. A
    file whose first line names the columns of words and tags is CSV or TSV. A
    sheet of Excel is read as such. In a test set, the column of the tags may be
    missing.

    Tags may be in any scheme that entity_scoring.py describes, such as the IOB1
    of CoNLL-2003, or only types, such as PER. They are converted to IOB2, or to
    the scheme of --labels. The tags of a dev or test set are compared with
    those of the task. Unless --labels names them, the train set is therefore
    read before another set.

    Raises:
        ValueError: --labels names fewer than two labels, or a label twice.
    """

    file_names: ClassVar[Mapping[BaseSet, Sequence[str]]] = {
        "train": (
            "train.txt",
            "eng.train",
            "train.jsonl",
            "train.json",
            "train.csv",
            "train.tsv",
            "train.xlsx",
        ),
        "dev": (
            "valid.txt",
            "dev.txt",
            "eng.testa",
            "dev.jsonl",
            "dev.json",
            "valid.jsonl",
            "valid.json",
            "dev.csv",
            "dev.tsv",
            "dev.xlsx",
            "valid.csv",
            "valid.tsv",
            "valid.xlsx",
        ),
        "test": (
            "test.txt",
            "eng.testb",
            "test.jsonl",
            "test.json",
            "test.csv",
            "test.tsv",
            "test.xlsx",
        ),
    }

    def __init__(
        self,
        data_dir: StrPath | None,
        data_file_options: DataFileOptions,
        options: NerOptions,
    ) -> None:
        labels = [*options.labels] if options.labels else None
        super().__init__(data_dir, data_file_options, options, labels)
        if labels:
            check_labels(labels, "--labels", min_labels=2)

    def read_labels(self) -> list[str]:
        """Returns the names of the tags, from --labels or the train set.

        Raises:
            OSError: --labels is not set, and the train set cannot be read.
            ValueError: the train set is malformed, or contains no entity.
        """
        return self._labels_of_flags or self._read_labels_of_rows()

    def _collect_labels(
        self, train: Sequence[NerExample], dev: Sequence[NerExample]
    ) -> list[str]:
        """Returns the tags of the words, O first."""
        examples = [*train, *dev]
        tags = {tag for example in examples for tag in example.labels}
        if examples[0].text is not None:
            # For each B- tag add the I- tag, because entities of this type may
            # have several words only in the dev and test sets.
            tags |= {tag.replace("B-", "I-", 1) for tag in tags}
        if tags == {"O"}:
            raise ValueError(
                f"{self._source}: the only tag in the train set is O. "
                "Tag the words of the named entities"
            )
        return ["O", *sorted(tags - {"O"})]

    def _read_file(
        self,
        path: StrPath,
        set_name: BaseSet,
        labels: Sequence[str] | None,
        *,
        keeps_rows: bool,
    ) -> list[NerExample]:
        """Reads a set from a file, for `read`, whose errors it raises.

        If `labels`, the tags of the task, are known, the function compares the
        tags of the file with them.
        """
        path = str(path)
        labels = labels or []
        examples = self._read_examples(path, set_name, labels)
        if not examples:
            raise ValueError(f"{path} contains no sentence or annotated text")
        if self._options.document_context and not examples[-1].document_index:
            raise ValueError(
                f"--document_context needs lines -DOCSTART-. {path} has none"
            )
        examples = [
            dataclasses.replace(
                example,
                labels=to_scheme(example.labels, labels),
                row=example.row if keeps_rows else None,
            )
            for example in examples
        ]
        if set_name == "train":
            _check_train_tags(path, examples, labels)
        if labels:
            _check_tags(path, set_name, examples, labels)
        if self._data_file_options.data_file:
            return examples
        # The messages above name the place in the file.
        return [
            dataclasses.replace(example, guid=f"{set_name}-{example_number}")
            for example_number, example in enumerate(examples, start=1)
        ]

    def _read_examples(
        self, path: str, set_name: BaseSet, labels: Sequence[str]
    ) -> list[NerExample]:
        """Reads a file of spans or of columns, by the ending of its name."""
        options = self._options
        if format_of(path) == "jsonl":
            return span_files.read_annotated_texts(
                path, set_name, labels, options.encoding
            )
        column_options = ColumnOptions(
            word_column_index=_index_of(options.text_column),
            tag_column_index=_index_of(options.label_column),
            labels=labels,
            set_name=set_name,
        )
        examples = column_files.read_columns(
            path, column_options, options.layout()
        )
        sentences = [*examples]
        self._check_sentence_ends(path, sentences)
        return sentences

    def _check_sentence_ends(
        self, path: str, examples: Sequence[NerExample]
    ) -> None:
        """Raises a ValueError if a file of columns has no empty lines.

        A test set, or a folder's, may well contain a single sentence.
        """
        if len(examples) != 1:
            return
        num_words = len(examples[0].words)
        if num_words > _MAX_SENTENCE_WORDS or self._data_file_options.data_file:
            raise ValueError(
                f"{path}: one sentence of {num_words} words: put an empty line "
                "between sentences"
            )

    def texts_of(self, example: NerExample) -> list[str]:
        """Returns the words as one text."""
        return [" ".join(example.words)]

    def labels_of(self, example: NerExample) -> list[str]:
        """Returns the types of the sentence's entities, each once."""
        return sorted({tag[2:] or tag for tag in example.labels} - {"O"})

    @property
    def key_names(self) -> list[str]:
        """Whether a sentence or the whole document is kept together."""
        return ["document" if self._options.document_context else "words"]

    def keys_of(self, examples: Sequence[NerExample]) -> list[str]:
        """Returns the key of each sentence, which its words determine.

        With --document_context, the words of its document determine the key.
        """
        if not self._options.document_context:
            return super().keys_of(examples)
        # {index of a document: its sentences}
        texts: dict[int, list[str]] = {}
        for example in examples:
            texts.setdefault(example.document_index, []).extend(
                self.texts_of(example)
            )
        keys = {
            document_index: key_of([" ".join(sentences)])
            for document_index, sentences in texts.items()
        }
        return [keys[example.document_index] for example in examples]


def _check_train_tags(
    path: str, examples: Sequence[NerExample], labels: Sequence[str]
) -> None:
    """Raises a ValueError or warns if tags come from a wrong column."""
    counts = Counter(
        label
        for example in examples
        if example.text is None
        for label in example.labels
    )
    tag_names.warn_of_rare_outside(path, counts)
    if not labels:
        tag_names.check_types(path, [example.labels for example in examples])


def _check_tags(
    path: str,
    set_name: BaseSet,
    examples: Sequence[NerExample],
    labels: Sequence[str],
) -> None:
    """Raises a ValueError or warns if tags of a set are no labels."""
    # {tag: place where it first occurs}
    tags: dict[str, str] = {}
    for example in examples:
        for tag in example.labels:
            tags.setdefault(tag, example.guid)
    unknown = [tag for tag in tags if tag not in labels]
    if not unknown:
        return
    where = f"{path}, {tags[unknown[0]]}"
    message = f"{where}: unknown tag {unknown[0]!r}. Known are {labels}"
    # A warning suffices for a dev or test set, unless all its tags except O are
    # unknown.
    if set_name == "train" or {*unknown} >= tags.keys() - {"O"}:
        raise ValueError(message)
    logging.warning(
        "%s. In the scores, words tagged %s count as errors.",
        message,
        ", ".join(unknown),
    )


def _index_of(column_number: int | None) -> int | None:
    """Returns the index of a column, which flags count from 1."""
    return None if column_number is None else column_number - 1
