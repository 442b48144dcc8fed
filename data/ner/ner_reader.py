"""Reads sentences with tagged words, or texts with spans of named entities."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

from absl import logging

from data.ner import annotation_files, conll_files, tag_names
from data.ner.entity_scoring import to_scheme
from data.ner.ner_examples import NerExample
from data.ner.ner_options import NerOptions
from data.sets.example_reader import ExampleReader, SetFile
from data.sets.set_names import BaseSet
from data.sets.text_keys import key_of
from data.tables.table_layout import format_of
from files.paths import StrPath
from model_folders.labels import check_labels

# A longer sentence, alone in its file, is probably several sentences.
_MAX_SENTENCE_WORDS = 100
# {set: names that its file may have in --data_dir}.
_FILES_OF_SET: Mapping[BaseSet, Sequence[str]] = {
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


class NerReader(ExampleReader[NerExample]):
    """Reads the files of the sets of a task with named entities.

    Files named .json and .jsonl contain texts with spans, or sentences with
    tags, as annotation_files.py describes. Other files are in the layout of
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
    those of the task.

    Args:
        options: the labels, and the columns of words and tags.

    Raises:
        ValueError: --labels names fewer than two labels, or a label twice.
    """

    file_names = _FILES_OF_SET

    def __init__(self, options: NerOptions) -> None:
        self.labels_of_flags = [*(options.labels or ())]
        if self.labels_of_flags:
            check_labels(self.labels_of_flags, "--labels", min_labels=2)
        self._options = options

    @property
    def key_names(self) -> list[str]:
        """Names the values that decide in which set a sentence is."""
        return ["document" if self._options.document_context else "words"]

    def read_file(self, file: SetFile) -> list[NerExample]:
        """Reads the sentences of a file, with tags of the task's scheme.

        If the tags of the task, `file.labels`, are known, the function compares
        the tags of the file with them.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file contains no sentence, a line is malformed, or
                tags are unknown.
        """
        labels = file.labels
        examples = self._read_sentences(file)
        self._check_sentences(file.path, examples)
        examples = [
            dataclasses.replace(example, tags=to_scheme(example.tags, labels))
            for example in examples
        ]
        if file.set_name == "train":
            tag_names.warn_of_rare_outside(
                file.path, _count_column_tags(examples)
            )
            if not labels:
                tag_names.check_types(
                    file.path, [example.tags for example in examples]
                )
        if labels:
            _check_known_tags(file, examples)
            _warn_of_unknown_tags(file, examples)
        return _with_guids(file, examples)

    def collect_labels(
        self,
        source: StrPath | None,
        train: Sequence[NerExample],
        dev: Sequence[NerExample],
    ) -> list[str]:
        """Returns the tags of the words, O first."""
        examples = [*train, *dev]
        tags = {tag for example in examples for tag in example.tags}
        if examples[0].text is not None:
            # For each B- tag add the I- tag, because entities of this type may
            # have several words only in the dev and test sets.
            tags |= {tag.replace("B-", "I-", 1) for tag in tags}
        if tags == {"O"}:
            raise ValueError(
                f"{source}: the only tag in the train set is O. "
                "Tag the words of the named entities"
            )
        return ["O", *sorted(tags - {"O"})]

    def labels_of(self, example: NerExample) -> list[str]:
        """Returns the types of the sentence's entities, each once."""
        return sorted({tag[2:] or tag for tag in example.tags} - {"O"})

    def compute_keys(self, examples: Sequence[NerExample]) -> list[str]:
        """Returns the key of each sentence, which its words determine.

        With --document_context, the words of its document determine the key.
        """
        if not self._options.document_context:
            return super().compute_keys(examples)
        # {index of a document: its sentences}
        texts: dict[int, list[str]] = {}
        for example in examples:
            texts.setdefault(example.document_index, []).extend(example.texts)
        keys = {
            document_index: key_of([" ".join(sentences)])
            for document_index, sentences in texts.items()
        }
        return [keys[example.document_index] for example in examples]

    def _read_sentences(self, file: SetFile) -> list[NerExample]:
        """Reads a file of spans or of columns, by the ending of its name."""
        options = self._options
        if format_of(file.path) == "jsonl":
            return annotation_files.read_annotated_texts(file, options.encoding)
        sentences = [*conll_files.read_conll_file(file, options)]
        _check_sentence_ends(file, sentences)
        return sentences

    def _check_sentences(
        self, path: str, examples: Sequence[NerExample]
    ) -> None:
        """Raises a ValueError if a file lacks sentences, or its documents.

        Only --document_context needs more than one document.
        """
        if not examples:
            raise ValueError(f"{path} contains no sentence or annotated text")
        if self._options.document_context and not examples[-1].document_index:
            raise ValueError(
                f"--document_context needs lines -DOCSTART-. {path} has none"
            )


def _check_sentence_ends(
    file: SetFile, sentences: Sequence[NerExample]
) -> None:
    """Raises a ValueError if a file of columns has no empty lines.

    A test set, or a folder's, may well contain a single sentence.
    """
    if len(sentences) != 1:
        return
    num_words = len(sentences[0].words)
    if num_words > _MAX_SENTENCE_WORDS or file.is_data_file:
        raise ValueError(
            f"{file.path}: one sentence of {num_words} words: put an empty "
            "line between sentences"
        )


def _count_column_tags(examples: Sequence[NerExample]) -> Counter[str]:
    """Counts the tags that are in columns of a file, and not in spans."""
    return Counter(
        tag
        for example in examples
        if example.text is None
        for tag in example.tags
    )


def _check_known_tags(file: SetFile, examples: Sequence[NerExample]) -> None:
    """Raises a ValueError if tags of a train set are no labels.

    The tags of a dev or test set are wrong only if none of them, except O, is a
    label.
    """
    place_of_tag = _find_unknown_tags(file, examples)
    tags = {tag for example in examples for tag in example.tags}
    are_all_unknown = place_of_tag.keys() >= tags - {"O"}
    if place_of_tag and (file.set_name == "train" or are_all_unknown):
        raise ValueError(_describe_unknown_tag(file, place_of_tag))


def _warn_of_unknown_tags(
    file: SetFile, examples: Sequence[NerExample]
) -> None:
    """Warns of tags that are no labels, and that `_check_known_tags` allows."""
    if place_of_tag := _find_unknown_tags(file, examples):
        logging.warning(
            "%s. In the scores, words tagged %s count as errors.",
            _describe_unknown_tag(file, place_of_tag),
            ", ".join(place_of_tag),
        )


def _find_unknown_tags(
    file: SetFile, examples: Sequence[NerExample]
) -> dict[str, str]:
    """Returns {tag that is no label: place where it first occurs}."""
    place_of_tag: dict[str, str] = {}
    for example in examples:
        for tag in example.tags:
            if tag not in file.labels:
                place_of_tag.setdefault(tag, example.place_in_file)
    return place_of_tag


def _describe_unknown_tag(
    file: SetFile, place_of_tag: Mapping[str, str]
) -> str:
    """Returns a message about the first of the unknown tags."""
    tag, place = next(iter(place_of_tag.items()))
    return f"{file.path}, {place}: unknown tag {tag!r}. Known are {file.labels}"


def _with_guids(
    file: SetFile, examples: Sequence[NerExample]
) -> list[NerExample]:
    """Returns copies of a file's examples, with their guids.

    These are train-1, train-2 and so on for a set of a folder, and the places
    for --data_file, because the rows of a set are anywhere in it. The copies
    lack their rows of the file if no output file shows them.
    """
    return [
        dataclasses.replace(
            example,
            guid=(
                example.place_in_file
                if file.is_data_file
                else f"{file.set_name}-{number}"
            ),
            row=example.row if file.keeps_rows else None,
        )
        for number, example in enumerate(examples, start=1)
    ]
