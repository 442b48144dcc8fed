"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

An entity is [start, end, label]. The positions count characters (code points),
and the end is exclusive. The module also reads the files of doccano, spaCy,
Prodigy and Label Studio, and sentences with tags:

    {"tokens": ["Anna", "left", "Oslo"], "ner_tags": ["B-PER", "O", "B-LOC"]}

docs/named_entities.md shows all formats.
"""

import bisect
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from absl import logging

from data.io import compressed_files, text_files
from data.ner import span_units
from data.ner.annotations import (
    find_sentence,
    find_text_and_spans,
    without_answers,
)
from data.ner.labeled_spans import LabeledSpan, read_span
from data.ner.ner_example import NerExample
from data.ner.tag_names import find_tag_names
from data.ner.word_splitting import find_words, split_words
from data.sets.set_names import BaseSet
from data.tables import prodigy
from data.tables.column_names import SPAN_NAMES, TAG_LIST_NAMES
from files.json_files import JsonObject, parse_json
from files.paths import StrPath


class _Span(NamedTuple):
    """A span of a file, compared with the words of its text.

    Attributes:
        label: its label.
        fit: how it fits the words.
        widened: for messages, the span and the complete words to which it was
            widened, "" if it was not.
    """

    label: str
    fit: span_units.SpanFit
    widened: str


class _TaggedWords(NamedTuple):
    """The words of a row with their tags.

    Attributes:
        text: the text, None if the row contains only words.
        words: the words of the text.
        tags: the words' tags, O for all of them if they are unknown.
        spans: the spans that the tags come from, () if the file tags the words.
        has_tags: whether the tags are as the file names them.
        is_unknown: whether the row was not annotated, or was rejected.
    """

    text: str | None
    words: list[str]
    tags: list[str]
    spans: Sequence[_Span] = ()
    has_tags: bool = False
    is_unknown: bool = False


class _AnnotatedRow(NamedTuple):
    """A text of a file, which may be left out.

    Attributes:
        example: its words and tags.
        spans: its spans, () if the file tags the words.
        has_tags: whether the tags are as the file names them.
        is_unknown: whether it was not annotated, or was rejected.
    """

    example: NerExample
    spans: Sequence[_Span]
    has_tags: bool
    is_unknown: bool

    @property
    def is_empty(self) -> bool:
        """Whether the text contains no words."""
        return not self.example.words


def read_annotated_texts(
    path: StrPath,
    set_name: BaseSet,
    labels: Sequence[str] = (),
    encoding: str | None = None,
) -> list[NerExample]:
    """Reads the annotated texts of a file of JSON lines or of one JSON list.

    The `guid` of an example is its line, or its entry in the list. The tags of
    the words of a text with spans are in the scheme IOB2. Tags in the file are
    named as in tag_names.py. In the train set and the dev set, texts that are
    empty, were not annotated or were rejected are left out. In the test set,
    they are texts without entities.

    A span that begins or ends inside a word is widened to the complete word.
    The function logs how many spans are widened, and how many texts are left
    out.

    Args:
        path: a file of JSON lines, or of a list in JSON.
        set_name: "train", "dev" or "test".
        labels: the tags of --labels or of the model, [] if they are unknown.
        encoding: encoding of the file. None = UTF-8.

    Raises:
        OSError: the file cannot be read.
        ValueError: a text, a span or a tag is malformed, two spans overlap, two
            keys of a row contradict each other, the labels of spans are tags
            such as B-PER, or most spans begin or end inside words.
    """
    texts = [
        _read_row(path, guid, row, document_index, set_name)
        for document_index, (guid, row) in enumerate(
            _read_entries(path, encoding), 1
        )
    ]
    kept = texts
    if set_name != "test":
        kept = [
            text for text in texts if not (text.is_empty or text.is_unknown)
        ]
    tagged_sentences = [text.example for text in kept if text.has_tags]
    _replace_tags(path, tagged_sentences, labels, is_train=set_name == "train")
    spans = [span for text in texts for span in text.spans]
    _check_labels(path, {span.label for span in spans})
    span_units.check_units([span.fit for span in spans])
    _log_counts(path, texts, spans, set_name)
    return [text.example for text in kept]


def _read_row(
    path: StrPath,
    guid: str,
    row: object,
    document_index: int,
    set_name: BaseSet,
) -> _AnnotatedRow:
    """Reads the text of a row, document `document_index` of the file."""
    where = f"{path}, {guid}"
    is_test = set_name == "test"
    keys = _unpack_row(row)
    tagged = _find_tagged_words(keys, where, needs_tags=not is_test)
    if tagged is None:
        tagged = _tag_annotated_text(keys, where, needs_spans=not is_test)
    example = NerExample(
        guid,
        tagged.words,
        tagged.tags,
        document_index,
        tagged.text,
        row=_without_annotations(keys) if is_test else keys,
    )
    return _AnnotatedRow(
        example,
        tagged.spans,
        has_tags=tagged.has_tags,
        is_unknown=tagged.is_unknown,
    )


def _unpack_row(row: object) -> JsonObject:
    """Returns the object of a row without a model's answers, {} without one."""
    if isinstance(row, list) and [*map(type, row)] == [str, dict]:
        row = {**row[1], "text": row[0]}  # spaCy's training data
    return without_answers(row) if isinstance(row, dict) else {}


def _without_annotations(row: JsonObject) -> JsonObject:
    annotations = {*SPAN_NAMES, *TAG_LIST_NAMES, "annotations"}
    return {key: row[key] for key in row if key not in annotations}


def _find_tagged_words(
    row: JsonObject, where: str, *, needs_tags: bool
) -> _TaggedWords | None:
    """Returns the words of a row that tags its words, None for another row.

    The arguments are those of `find_sentence`.
    """
    sentence = find_sentence(row, where, needs_tags=needs_tags)
    if sentence is None:
        return None
    words, tags, text = sentence
    if prodigy.is_left_out(row):
        no_tags = ["O"] * len(words)
        return _TaggedWords(text, words, no_tags, is_unknown=True)
    return _TaggedWords(text, words, tags, has_tags=True)


def _tag_annotated_text(
    row: JsonObject, where: str, *, needs_spans: bool
) -> _TaggedWords:
    """Returns the words of a row that marks spans of its text.

    The arguments are those of `find_text_and_spans`.
    """
    text, values = find_text_and_spans(row, where, needs_spans=needs_spans)
    is_unknown = values is None or prodigy.is_left_out(row)
    words = split_words(text)
    tags, spans = _tag_words(
        text, words, [] if is_unknown else values or [], where
    )
    return _TaggedWords(text, words, tags, spans, is_unknown=is_unknown)


def _replace_tags(
    path: StrPath,
    examples: Sequence[NerExample],
    labels: Sequence[str],
    *,
    is_train: bool,
) -> None:
    """Replaces the tags of the file by their names."""
    if not examples:
        return
    counts = Counter(tag for example in examples for tag in example.labels)
    names = find_tag_names(path, counts, labels, is_train=is_train)
    for example in examples:
        for word, tag in zip(example.words, example.labels, strict=True):
            if tag not in names:
                raise ValueError(
                    f"{path}, {example.guid}: the word is {word!r}, and its "
                    f"tag is {tag!r}, but a tag is such as O, B-PER or I-PER"
                )
        example.labels = [names[tag] for tag in example.labels]


def _log_counts(
    path: StrPath,
    texts: Sequence[_AnnotatedRow],
    spans: Sequence[_Span],
    set_name: BaseSet,
) -> None:
    """Logs which texts and spans of a file were left out or changed."""
    if widened := [span.widened for span in spans if span.widened]:
        logging.info(
            "%s: widened %d of %d spans to complete words, such as %s",
            path,
            len(widened),
            len(spans),
            widened[0],
        )
    is_test = set_name == "test"
    num_texts = len(texts)
    num_empty = sum(text.is_empty for text in texts)
    if num_empty and not is_test:
        logging.warning(
            "%s: %d of %d texts are empty. They are left out",
            path,
            num_empty,
            num_texts,
        )
    num_unknown = sum(text.is_unknown and not text.is_empty for text in texts)
    if 0 < num_unknown < num_texts:
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected. They %s",
            path,
            num_unknown,
            num_texts,
            "count as texts without entities" if is_test else "are skipped",
        )


def _tag_words(
    text: str, words: Sequence[str], values: Sequence[object], where: str
) -> tuple[list[str], list[_Span]]:
    """Returns the tags of a text's words, and the spans that they come from.

    `values` are the spans in the file.

    Raises:
        ValueError: a span is malformed, contains no word, or overlaps the words
            of another span.
    """
    word_spans = find_words(text, words)
    # {span: its value in the file}
    value_of_span = {read_span(value, text, where): value for value in values}
    tags = ["O"] * len(word_spans)
    spans = []
    for span in sorted(value_of_span):
        first, after = _find_covered_words(word_spans, span.start, span.end)
        _check_free(tags[first:after], span, text, where)
        tags[first:after] = [f"I-{span.label}"] * (after - first)
        tags[first] = f"B-{span.label}"
        complete = text[word_spans[first][0] : word_spans[after - 1][1]]
        spans.append(
            _fit_span(span, value_of_span[span], complete, text, where)
        )
    return tags, spans


def _check_free(
    tags: Sequence[str], span: LabeledSpan, text: str, where: str
) -> None:
    """Raises a ValueError if a span's words are none, or are tagged already.

    `tags` are the tags of the words that the span covers.
    """
    if {*tags} != {"O"}:
        raise ValueError(
            f"{where}: the span {_describe_span(span, text)} contains no word, "
            f"or overlaps the words of another span. Text: {text[:80]!r}"
        )


def _fit_span(
    span: LabeledSpan, value: object, complete: str, text: str, where: str
) -> _Span:
    """Compares a span with the words that it covers.

    Args:
        span: the span.
        value: the span in the file.
        complete: the text of the complete words.
        text: the text that contains the span.
        where: place of the text, for messages.
    """
    is_complete = complete == text[span.start : span.end].strip()
    # The text of the span, if it has one, has confirmed its place.
    is_confirmed = isinstance(value, dict) and "text" in value
    fit = span_units.find_span_fit(text, span.start, span.end, where)
    if is_complete or is_confirmed:
        fit = fit._replace(is_start_wrong=False, is_end_wrong=False)
    widened = f"{_describe_span(span, text)} to {complete!r}"
    return _Span(span.label, fit, widened="" if is_complete else widened)


def _describe_span(span: LabeledSpan, text: str) -> str:
    return f"{[*span]} {text[span.start : span.end]!r}"


def _find_covered_words(
    word_spans: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[int, int]:
    """Returns which words a span overlaps: (first word, word after the last).

    Examples:
        >>> _find_covered_words([(0, 4), (5, 9), (10, 14)], start=7, end=12)
        (1, 3)
    """
    first = bisect.bisect_right(word_spans, start, key=lambda word: word[1])
    after = bisect.bisect_left(word_spans, end, key=lambda word: word[0])
    return first, after


def _check_labels(path: StrPath, labels: Collection[str]) -> None:
    """Raises a ValueError if the spans are words, labeled with tags."""
    tags = [
        label
        for label in labels
        if label[:2] == "B-" and f"I{label[1:]}" in labels
    ]
    if tags:
        raise ValueError(
            f"{path}: the labels of spans are tags of words, such as "
            f"{tags[0]!r}. Set one span for each entity, labeled with its type"
        )


def _read_entries(
    path: StrPath, encoding: str | None
) -> Iterator[tuple[str, object]]:
    """Yields (place in the file, parsed JSON value) of each text in a file.

    Only a .json file can contain one list of texts, instead of a text in a
    line.
    """
    lines = [
        (line_number, line)
        for line_number, line in text_files.read_numbered_lines(path, encoding)
        if line.strip()
    ]
    text = "\n".join(line for _, line in lines)
    is_list = compressed_files.uncompressed_name(path).endswith(".json")
    if is_list and text.lstrip().startswith("["):
        for entry_number, row in enumerate(
            parse_json(text, str(path), list), 1
        ):
            yield f"entry {entry_number}", row
        return
    for line_number, line in lines:
        where = f"line {line_number}"
        yield where, parse_json(line, f"{path}, {where}", object)
