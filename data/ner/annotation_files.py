"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

An entity is [start, end, label]. The positions count characters (code points),
and the end is exclusive. The module also reads the files of doccano, spaCy,
Prodigy and Label Studio, and sentences with tags:

    {"tokens": ["Anna", "left", "Oslo"], "ner_tags": ["B-PER", "O", "B-LOC"]}

docs/named_entities.md shows all formats.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from absl import logging

from data.io import compressed_files, text_files
from data.ner.annotated_rows import AnnotatedRow, TaggedSentence
from data.ner.ner_examples import NerExample, split_words
from data.ner.span_tagging import (
    TaggedSpan,
    check_span_labels,
    check_units,
    tag_words,
)
from data.ner.tag_names import name_tags
from data.sets.example_reader import SetFile
from data.tables.column_names import SPAN_NAMES, TAG_LIST_NAMES
from files.json_files import JsonObject, parse_json
from files.paths import StrPath

# Keys that run_ner.py's dev_predictions.jsonl adds to a row.
_KEYS_OF_ANSWERS = (
    "guid",
    "predicted_labels",
    "predicted_entities",
    "probabilities",
    "correct",
)


class _FileEntry(NamedTuple):
    """A text as a file contains it, before its annotations are read.

    Attributes:
        place_in_file: such as "line 3", for messages.
        value: the parsed JSON of the text, of any type.
    """

    place_in_file: str
    value: object


class _ParsedText(NamedTuple):
    """A text of a file, which may be left out.

    Attributes:
        example: its words and tags, O for all words if the tags are unknown.
        spans: the spans that the tags come from, () if the file tags the words.
        has_tags: whether the tags are as the file names them.
        is_annotated: False if nobody annotated the text, or if the annotator
            rejected it.
    """

    example: NerExample
    spans: Sequence[TaggedSpan] = ()
    has_tags: bool = False
    is_annotated: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether the text contains no words."""
        return not self.example.words


def read_annotated_texts(
    file: SetFile, encoding: str | None = None
) -> list[NerExample]:
    """Reads the annotated texts of a file of JSON lines or of one JSON list.

    The `place_in_file` of an example is its line, or its entry in the list. The
    tags of the words of a text with spans are in the scheme IOB2. Tags in the
    file are named as in tag_names.py. In the train set and the dev set, texts
    that are empty, were not annotated or were rejected are left out. In the
    test set, they are texts without entities.

    A span that begins or ends inside a word is widened to the complete word.
    The function logs how many spans are widened, and how many texts are left
    out.

    Args:
        file: a file of JSON lines, or of a list in JSON.
        encoding: encoding of the file. If None, it is UTF-8.

    Raises:
        OSError: the file cannot be read.
        ValueError: a text, a span or a tag is malformed, two spans overlap, two
            keys of a row contradict each other, the labels of spans are tags
            such as B-PER, or most spans begin or end inside words.
    """
    entries = _read_entries(file.path, encoding)
    # Each row is a document of its own.
    texts = [
        _parse_entry(file, entry, document_index)
        for document_index, entry in enumerate(entries, 1)
    ]
    examples = _create_examples(file, texts)
    spans = [span for text in texts for span in text.spans]
    check_span_labels(file.path, {span.label for span in spans})
    check_units(spans)
    _log_widened_spans(file.path, spans)
    _log_left_out_texts(file, texts)
    return examples


def _parse_entry(
    file: SetFile, entry: _FileEntry, document_index: int
) -> _ParsedText:
    """Parses the JSON value of a row, which may be left out later."""
    is_test = file.set_name == "test"
    place = f"{file.path}, {entry.place_in_file}"
    values = _unpack_row(entry.value)
    annotated = AnnotatedRow(values, place).parse(needs_annotations=not is_test)
    spans: Sequence[TaggedSpan] = ()
    if isinstance(annotated, TaggedSentence):
        words = annotated.words
        tags = annotated.tags
    else:
        words = split_words(annotated.text)
        tags, spans = tag_words(annotated.text, words, annotated.spans, place)
    example = NerExample(
        entry.place_in_file,
        words,
        tags,
        document_index,
        annotated.text,
        row=_without_annotations(values) if is_test else values,
    )
    has_tags = isinstance(annotated, TaggedSentence) and annotated.is_annotated
    return _ParsedText(
        example, spans, has_tags, is_annotated=annotated.is_annotated
    )


def _create_examples(
    file: SetFile, texts: Sequence[_ParsedText]
) -> list[NerExample]:
    """Returns the examples of texts, with tags as tag_names.py names them.

    Leaves out texts that are empty or not annotated, but not of a test set.
    """
    is_test = file.set_name == "test"
    kept = [
        text
        for text in texts
        if is_test or (text.is_annotated and not text.is_empty)
    ]
    counts = Counter(
        tag for text in kept if text.has_tags for tag in text.example.tags
    )
    if not counts:
        return [text.example for text in kept]
    names = name_tags(
        file.path, counts, file.labels, is_train=file.set_name == "train"
    )
    return [
        _with_named_tags(file.path, text.example, names)
        if text.has_tags
        else text.example
        for text in kept
    ]


def _with_named_tags(
    path: str, example: NerExample, names: Mapping[str, str]
) -> NerExample:
    """Returns an example with renamed tags, by {tag of the file: name}."""
    for word, tag in zip(example.words, example.tags, strict=True):
        if tag not in names:
            raise ValueError(
                f"{path}, {example.place_in_file}: the word is "
                f"{word!r}, and its tag is {tag!r}, but a tag is such as "
                "O, B-PER or I-PER"
            )
    return dataclasses.replace(
        example, tags=[names[tag] for tag in example.tags]
    )


def _log_left_out_texts(file: SetFile, texts: Sequence[_ParsedText]) -> None:
    """Logs how many texts are empty, or were not annotated."""
    is_test = file.set_name == "test"
    num_texts = len(texts)
    num_empty = sum(text.is_empty for text in texts)
    if num_empty and not is_test:
        logging.warning(
            "%s: %d of %d texts are empty. They are left out",
            file.path,
            num_empty,
            num_texts,
        )
    num_not_annotated = sum(
        not (text.is_annotated or text.is_empty) for text in texts
    )
    if 0 < num_not_annotated < num_texts:
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected. They %s",
            file.path,
            num_not_annotated,
            num_texts,
            "count as texts without entities" if is_test else "are skipped",
        )


def _read_entries(path: StrPath, encoding: str | None) -> Iterator[_FileEntry]:
    """Yields the entry of each text in a file.

    Only a .json file can contain one list of texts, instead of a text in a
    line.
    """
    lines = [
        line
        for line in text_files.read_numbered_lines(path, encoding)
        if line.text.strip()
    ]
    may_be_list = compressed_files.uncompressed_name(path).endswith(".json")
    if may_be_list and lines and lines[0].text.lstrip().startswith("["):
        text = "\n".join(line.text for line in lines)
        values = parse_json(text, str(path), list)
        for entry_number, value in enumerate(values, 1):
            yield _FileEntry(f"entry {entry_number}", value)
        return
    for line_number, line in lines:
        place_in_file = f"line {line_number}"
        value = parse_json(line, f"{path}, {place_in_file}", object)
        yield _FileEntry(place_in_file, value)


def _unpack_row(row: object) -> JsonObject:
    """Returns the object of a row, without the answers that a model gave.

    Returns {} for a row that is no object.
    """
    if isinstance(row, list) and [*map(type, row)] == [str, dict]:
        row = {**row[1], "text": row[0]}  # spaCy's training data
    if not isinstance(row, dict):
        return {}
    if "predicted_entities" not in row:
        return row
    return {name: row[name] for name in row if name not in _KEYS_OF_ANSWERS}


def _without_annotations(row: JsonObject) -> JsonObject:
    annotations = {*SPAN_NAMES, *TAG_LIST_NAMES, "annotations"}
    return {key: row[key] for key in row if key not in annotations}


def _log_widened_spans(path: StrPath, spans: Sequence[TaggedSpan]) -> None:
    """Logs how many spans of a file were widened to complete words."""
    if widened := [span.widened for span in spans if span.widened]:
        logging.info(
            "%s: widened %d of %d spans to complete words, such as %s",
            path,
            len(widened),
            len(spans),
            widened[0],
        )
