"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

An entity is [start, end, label]. The positions count characters (code points),
and the end is exclusive. The module also reads the files of doccano, spaCy,
Prodigy and Label Studio, and sentences with tags:

    {"tokens": ["Anna", "left", "Oslo"], "ner_tags": ["B-PER", "O", "B-LOC"]}

docs/named_entities.md shows all formats.
"""

import bisect
import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

from absl import logging

from data.io import packed_files, text_files
from data.io.split_names import SetName
from data.ner import offsets
from data.ner.annotations import (
    find_sentence,
    find_text_and_spans,
    read_span,
    without_answers,
)
from data.ner.ner_example import NerExample
from data.ner.tag_names import name_tags
from data.ner.word_splitting import find_words, split_words
from data.tables import prodigy
from data.tables.column_names import SPANS, TAG_LISTS
from files.json_files import parse_json
from files.paths import StrPath


@dataclasses.dataclass
class _FileCounts:
    """Counts that the reader takes in a file, and checks at its end.

    Attributes:
        num_texts: number of texts.
        num_empty: number of texts without words.
        num_unknown: number of texts that were not annotated, or were rejected.
        labels: the label of each span.
        widened: for messages, each span that was widened to complete words.
        spans: how each span fits the words.
    """

    num_texts: int = 0
    num_empty: int = 0
    num_unknown: int = 0
    labels: list[str] = dataclasses.field(default_factory=list)
    widened: list[str] = dataclasses.field(default_factory=list)
    spans: list[offsets.SpanFit] = dataclasses.field(default_factory=list)


def read_annotated_texts(
    path: StrPath,
    set_name: SetName,
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
        path: path of the file.
        set_name: "train", "dev" or "test".
        labels: the tags of --labels or of the model, [] if they are unknown.
        encoding: encoding of the file. None = UTF-8.

    Raises:
        OSError: the file cannot be read.
        ValueError: a text, a span or a tag is malformed, two spans overlap, two
            keys of a row contradict each other, the labels of spans are tags
            such as B-PER, or most spans begin or end inside words.
    """
    counts = _FileCounts()
    examples = []
    tagged_sentences = []
    for guid, row in _read_entries(path, encoding):
        example, has_tags = _read_row(path, guid, row, set_name, counts)
        if example is not None:
            examples.append(example)
            if has_tags:
                tagged_sentences.append(example)
    _name_tags(path, tagged_sentences, labels, set_name == "train")
    _check_labels(path, counts)
    offsets.check_units(counts.spans)
    _log_counts(path, counts, set_name)
    return examples


def _read_row(
    path: StrPath,
    guid: str,
    row: object,
    set_name: SetName,
    counts: _FileCounts,
) -> tuple[NerExample | None, bool]:
    """Returns (example or None, whether the row contains tags).

    None stands for a text that is left out. Adds the text to `counts`.
    """
    counts.num_texts += 1
    is_test = set_name == "test"
    where = f"{path}, {guid}"
    if isinstance(row, list) and [*map(type, row)] == [str, dict]:
        row = {**row[1], "text": row[0]}  # spaCy's training data
    row = without_answers(row) if isinstance(row, dict) else {}
    output_row = row
    if is_test:
        annotations = {*SPANS, *TAG_LISTS, "annotations"}
        output_row = {key: row[key] for key in row if key not in annotations}
    is_rejected = prodigy.is_left_out(row)
    sentence = find_sentence(row, where, not is_test)
    if sentence:
        words, tags, text = sentence
        tags = ["O"] * len(words) if is_rejected else tags
    else:
        text, values = find_text_and_spans(row, where, not is_test)
        is_rejected |= values is None
        words = split_words(text)
        tags = _tag_words(
            text, words, [] if is_rejected else values or [], where, counts
        )
    is_empty = not words
    counts.num_empty += is_empty
    counts.num_unknown += is_rejected and not is_empty
    if not is_test and (is_empty or is_rejected):
        return None, False
    document = counts.num_texts
    example = NerExample(guid, words, tags, document, text, output_row)
    return example, bool(sentence) and not is_rejected


def _name_tags(
    path: StrPath,
    examples: Sequence[NerExample],
    labels: Sequence[str],
    is_train: bool,
) -> None:
    """Replaces the tags of the file by their names."""
    if not examples:
        return
    counts = Counter(tag for example in examples for tag in example.labels)
    names = name_tags(path, counts, labels, is_train)
    for example in examples:
        for word, tag in zip(example.words, example.labels, strict=True):
            if tag not in names:
                raise ValueError(
                    f"{path}, {example.guid}: the word is {word!r}, and its "
                    f"tag is {tag!r}, but a tag is such as O, B-PER or I-PER"
                )
        example.labels = [names[tag] for tag in example.labels]


def _log_counts(path: StrPath, counts: _FileCounts, set_name: SetName) -> None:
    """Logs which texts and spans of a file were left out or changed."""
    if counts.widened:
        logging.info(
            "%s: widened %d of %d spans to complete words, such as %s",
            path,
            len(counts.widened),
            len(counts.labels),
            counts.widened[0],
        )
    is_test = set_name == "test"
    if counts.num_empty and not is_test:
        logging.warning(
            "%s: %d of %d texts are empty. They are left out",
            path,
            counts.num_empty,
            counts.num_texts,
        )
    if 0 < counts.num_unknown < counts.num_texts:
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected. They %s",
            path,
            counts.num_unknown,
            counts.num_texts,
            "count as texts without entities" if is_test else "are skipped",
        )


def _tag_words(
    text: str,
    words: Sequence[str],
    values: Sequence[object],
    where: str,
    counts: _FileCounts,
) -> list[str]:
    """Returns the tags of a text's words, and adds its spans to `counts`.

    `values` are the spans in the file.
    """
    word_spans = find_words(text, words)
    # {span: its value in the file}
    spans = {read_span(value, text, where): value for value in values}
    tags = ["O"] * len(word_spans)
    for span, value in sorted(spans.items(), key=lambda item: item[0]):
        start, end, label = span
        description = f"{[start, end, label]} {text[start:end]!r}"
        first = bisect.bisect_right(word_spans, start, key=lambda span: span[1])
        after = bisect.bisect_left(word_spans, end, key=lambda span: span[0])
        if {*tags[first:after]} != {"O"}:
            raise ValueError(
                f"{where}: the span {description} contains no word, or "
                f"overlaps the words of another span. Text: {text[:80]!r}"
            )
        tags[first:after] = [f"I-{label}"] * (after - first)
        tags[first] = f"B-{label}"
        counts.labels.append(label)
        complete = text[word_spans[first][0] : word_spans[after - 1][1]]
        fit = offsets.fit_span(text, start, end, where)
        if complete == text[start:end].strip():
            fit = fit._replace(is_start_wrong=False, is_end_wrong=False)
        else:
            counts.widened.append(f"{description} to {complete!r}")
        if isinstance(value, dict) and "text" in value:
            # The text of the span has confirmed its place.
            fit = fit._replace(is_start_wrong=False, is_end_wrong=False)
        counts.spans.append(fit)
    return tags


def _check_labels(path: StrPath, counts: _FileCounts) -> None:
    """Raises a ValueError if the spans are words, labeled with tags."""
    labels = {*counts.labels}
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
        (number, line)
        for number, line in text_files.read_numbered(path, encoding)
        if line.strip()
    ]
    text = "\n".join(line for _, line in lines)
    is_list = packed_files.name_without_packing(path).endswith(".json")
    if is_list and text.lstrip().startswith("["):
        for number, row in enumerate(parse_json(text, str(path), list), 1):
            yield f"entry {number}", row
        return
    for number, line in lines:
        where = f"line {number}"
        yield where, parse_json(line, f"{path}, {where}", object)
