"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

An entity is [start, end, label]. The positions count characters (code points),
and the end is exclusive. The module also reads the files of doccano, spaCy,
Prodigy and Label Studio. docs/named_entities.md shows their formats.
"""

import bisect
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from absl import logging

from data.io import text_files
from data.ner.sentence_windows import NerExample
from data.ner.words import find_words, split_words
from files.json_files import parse_json
from files.paths import StrPath
from modeling.labels import is_label

# Keys under which files store a text's spans. If an entry contains several of
# these keys, the first one with spans is read. doccano and Label Studio's
# shorter export write `label`, or `labels` in older versions.
_SPANS = ("entities", "spans", "ents", "label", "labels")
# A part of a text: (first character, character after the last one, label).
Span = tuple[int, int, str]


def read(path: StrPath, needs_spans: bool) -> Iterator[NerExample]:
    """Yields the annotated texts of a file of JSON lines or of one JSON list.

    The `guid` of an example is its line, or its entry in the list. The tags of
    its words are in the scheme IOB2.

    A span that begins or ends inside a word is widened to the complete word.
    The function logs how many spans are widened, and how many texts were not
    annotated or were rejected by the annotator.

    Args:
        path: path of the file, in UTF-8.
        needs_spans: True to skip texts that were not annotated or were
            rejected, and to fail for an entry without a key for spans. False to
            treat all these texts as texts without entities.

    Raises:
        OSError: the file cannot be read.
        ValueError: a text or a span is malformed, two spans overlap, the labels
            are tags such as B-PER, or many offsets seem to count bytes, UTF-16
            units, or CR LF as one.
    """
    counts = _Counts()
    for guid, row in _read_entries(path):
        counts.num_texts += 1
        where = f"{path}, {guid}"
        if isinstance(row, list) and [*map(type, row)] == [str, dict]:
            row = {**row[1], "text": row[0]}  # spaCy's training data
        text, values = _find_spans(row, where, needs_spans)
        if values is None:
            counts.num_unknown += 1
            if needs_spans:
                continue
        spans = {_read_span(value, text, where) for value in values or ()}
        words = split_words(text)
        places = find_words(text, words)
        tags = _tag_words(text, places, sorted(spans), where, counts)
        if not needs_spans:
            row = {name: row[name] for name in row if name not in _SPANS}
        yield NerExample(guid, words, tags, counts.num_texts, text, row)
    _check_labels(path, counts)
    _check_offsets(path, counts)
    if counts.widened:
        logging.info(
            "%s: widened %d of %d spans to complete words, such as %s",
            path,
            len(counts.widened),
            len(counts.labels),
            counts.widened[0],
        )
    if 0 < counts.num_unknown < counts.num_texts:
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected. They %s",
            path,
            counts.num_unknown,
            counts.num_texts,
            "are skipped" if needs_spans else "count as texts without entities",
        )


@dataclasses.dataclass
class _Counts:
    # What `read` counts in a file, to check the file at its end.
    num_texts: int = 0
    # Texts that were not annotated, or were rejected.
    num_unknown: int = 0
    # The label of each span.
    labels: list[str] = dataclasses.field(default_factory=list)
    # For messages: each span that was widened to complete words.
    widened: list[str] = dataclasses.field(default_factory=list)
    # Widened spans that fit if their offsets count other units.
    num_shifted: int = 0


def _tag_words(
    text: str,
    places: list[tuple[int, int]],
    spans: Iterable[Span],
    where: str,
    counts: _Counts,
) -> list[str]:
    # Returns the tags of a text's words, and adds its spans to `counts`.
    # `places` are the words' places in the text. `spans` are ascending.
    tags = ["O"] * len(places)
    for start, end, label in spans:
        shown = f"{[start, end, label]} {text[start:end]!r}"
        first = bisect.bisect_right(places, start, key=lambda place: place[1])
        after = bisect.bisect_left(places, end, key=lambda place: place[0])
        if {*tags[first:after]} != {"O"}:
            raise ValueError(
                f"{where}: the span {shown} contains no word, or overlaps "
                f"the words of another span. Text: {text[:80]!r}"
            )
        tags[first:after] = [f"I-{label}"] * (after - first)
        tags[first] = f"B-{label}"
        counts.labels.append(label)
        complete = text[places[first][0] : places[after - 1][1]]
        if complete != text[start:end].strip():
            counts.widened.append(f"{shown} to {complete!r}")
            if _fits_other_units(text, start, end, places):
                counts.num_shifted += 1
    return tags


def _check_labels(path: StrPath, counts: _Counts) -> None:
    # Raises a ValueError if the spans are words, labeled with tags.
    labels = {*counts.labels}
    tags = [x for x in labels if x[:2] == "B-" and f"I{x[1:]}" in labels]
    if tags:
        raise ValueError(
            f"{path}: the labels of spans are tags of words, such as "
            f"{tags[0]!r}. Set one span for each entity, labeled with its type"
        )


def _check_offsets(path: StrPath, counts: _Counts) -> None:
    # Raises a ValueError if many offsets seem to count other units.
    num_widened = len(counts.widened)
    if counts.num_shifted > max(2, num_widened // 3):
        raise ValueError(
            f"{path}: {counts.num_shifted} of the {num_widened} spans that "
            "begin or end inside a word would match complete words if their "
            "offsets counted bytes, UTF-16 units, or a CR LF as one. Convert "
            "the offsets to characters. The first span is "
            f"{counts.widened[0]}"
        )


def _fits_other_units(
    text: str, start: int, end: int, places: list[tuple[int, int]]
) -> bool:
    # Returns whether the span would consist of complete words if its offsets
    # counted UTF-16 units, bytes, or a CR LF as one.
    line_end = "\r\n" if "\r\n" in text else "\n"

    def find(index: int) -> Iterator[int]:
        units = text.encode("utf-16-le")
        yield len(units[: 2 * index].decode("utf-16-le", "ignore"))
        data = text.encode()
        yield len(data[:index].decode("utf-8", "ignore"))
        lines = text.replace("\r\n", "\n")[:index]
        yield len(lines.replace("\n", line_end))

    starts, ends = zip(*places, strict=True)
    return any(
        first != start and first in starts and last in ends
        for first, last in zip(find(start), find(end), strict=True)
    )


def _read_entries(path: StrPath) -> Iterator[tuple[str, Any]]:
    # Yields (place in the file, parsed JSON value) of each text in a file. Only
    # a .json file can contain one list of texts, instead of a text in a line.
    lines = [each for each in text_files.read_numbered(path) if each[1].strip()]
    text = "\n".join(line for _, line in lines)
    is_list = str(path).removesuffix(".gz").endswith(".json")
    if is_list and text.lstrip().startswith("["):
        for number, row in enumerate(parse_json(text, str(path), list), 1):
            yield f"entry {number}", row
        return
    for number, line in lines:
        where = f"line {number}"
        yield where, parse_json(line, f"{path}, {where}", object)


def _find_spans(
    row: object, where: str, needs_spans: bool
) -> tuple[str, list[Any] | None]:
    # Returns (text, spans) of an entry of the file. The spans are None if the
    # text was not annotated or was rejected.
    if not isinstance(row, dict):
        row = {}
    if isinstance(row.get("data"), dict) and "text" not in row:
        row = _from_label_studio(row, where)

    # Prefer a key whose value contains spans, because tools may also write
    # empty lists, or values of other kinds, under other keys of _SPANS.
    keys = [key for key in _SPANS if key in row]
    keys.sort(key=lambda key: not _has_spans(row[key]))
    values = row[keys[0]] if keys else None
    text = row.get("text")
    if not isinstance(text, str) or (needs_spans and not keys):
        raise ValueError(
            f"{where}: found the keys {', '.join(row) or 'of no object'}. An "
            f"entry contains `text`, and spans as {', '.join(_SPANS)}, or is "
            "Label Studio's. Words with tags belong in columns (.txt)"
        )
    if row.get("answer") in ("reject", "ignore"):
        values = None
    return text, values if isinstance(values, list | None) else [values]


def _has_spans(value: object) -> bool:
    # Returns whether a JSON value is a list that begins with a span.
    return isinstance(value, list) and any(map(_parse, value[:1]))


def _from_label_studio(task: dict[str, Any], where: str) -> dict[str, Any]:
    # Converts a task of Label Studio's export to {"text", "entities"}. The
    # entities are None if the text was not annotated.
    every = task.get("annotations") or []
    done = [each for each in every if not each.get("was_cancelled")]
    done = [each for each in done if each.get("ground_truth")] or done
    # Skip results of other kinds, such as a text's class.
    spans = [
        [
            part["value"]
            for part in each["result"]
            if {"labels", "hypertextlabels"} & part.get("value", {}).keys()
        ]
        for each in done
    ]
    if len({frozenset(map(_parse, each)) for each in spans}) > 1:
        raise ValueError(
            f"{where}: the {len(done)} annotations of this text differ; keep "
            "only one of them, or mark one as ground truth in Label Studio"
        )
    texts = [each for each in task["data"].values() if isinstance(each, str)]
    data = {"text": texts[0]} if len(texts) == 1 else {}
    return data | task["data"] | {"entities": spans[0] if spans else None}


def _parse(value: object) -> Span | None:
    # Returns the span that a JSON value is, or None if it is no span.
    if isinstance(value, dict):
        names = ("label", "type", "labels", "hypertextlabels")
        value = [
            value.get("start", value.get("start_offset")),
            value.get("end", value.get("end_offset")),
            next((value[name] for name in names if name in value), None),
        ]
    if not isinstance(value, list) or len(value) != 3:
        return None
    start, end, label = value
    if isinstance(label, list) and len(label) == 1:
        label = label[0]
    is_span = type(start) is type(end) is int and is_label(label)
    return (start, end, label) if is_span else None


def _read_span(value: object, text: str, where: str) -> Span:
    span = _parse(value)
    start, end, _ = span or (0, 0, "")
    own = value.get("text") if isinstance(value, dict) else None
    # Label Studio changes white space in the texts that it records for spans.
    words = own.replace("\\n", "\n").split() if isinstance(own, str) else None
    marked = text[start:end]
    is_inside = 0 <= start < end <= len(text)
    if span is None or not is_inside or words not in (None, marked.split()):
        raise ValueError(
            f"{where}: the span {repr(value)[:120]} does not fit the text of "
            f"{len(text)} characters, {text[:80]!r}, where it is {marked!r}. "
            'A span is [start, end, label] or {"start", "end", "label"}. '
            "Positions count code points, and the end is exclusive"
        )
    return span
