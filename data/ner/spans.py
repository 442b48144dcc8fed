"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

An entity is [start, end, label]. The positions count characters (code points),
and the end is exclusive. The module also reads the files of doccano, spaCy,
Prodigy and Label Studio. docs/named_entities.md shows their formats.
"""

import bisect
from collections.abc import Iterator
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
    num_texts = num_unknown = num_shifted = 0
    labels: list[str] = []
    widened: list[str] = []
    for num_texts, (guid, row) in enumerate(_read_entries(path), start=1):
        where = f"{path}, {guid}"
        if isinstance(row, list) and [*map(type, row)] == [str, dict]:
            row = {**row[1], "text": row[0]}  # spaCy's training data
        text, values = _find_spans(row, where, needs_spans)
        num_unknown += values is None
        if values is None and needs_spans:
            continue
        words = split_words(text)
        places, tags = find_words(text, words), ["O"] * len(words)
        spans = {_read_span(value, text, where) for value in values or ()}
        for start, end, label in sorted(spans):
            shown = f"{[start, end, label]} {text[start:end]!r}"
            first = bisect.bisect_right(places, start, key=lambda x: x[1])
            after = bisect.bisect_left(places, end, key=lambda x: x[0])
            if {*tags[first:after]} != {"O"}:
                raise ValueError(
                    f"{where}: the span {shown} contains no word, or overlaps "
                    f"the words of another span. Text: {text[:80]!r}"
                )
            tags[first:after] = [f"I-{label}"] * (after - first)
            tags[first] = f"B-{label}"
            labels.append(label)
            complete = text[places[first][0] : places[after - 1][1]]
            if complete != text[start:end].strip():
                widened.append(f"{shown} to {complete!r}")
                num_shifted += _fits_other_units(text, start, end, places)
        if not needs_spans:
            row = {name: row[name] for name in row if name not in _SPANS}
        yield NerExample(guid, words, tags, num_texts, text, row)
    kinds = {*labels}
    if found := [x for x in kinds if x[:2] == "B-" and f"I{x[1:]}" in kinds]:
        raise ValueError(
            f"{path}: the labels of spans are tags of words, such as "
            f"{found[0]!r}. Set one span for each entity, labeled with its type"
        )
    if num_shifted > max(2, len(widened) // 3):
        raise ValueError(
            f"{path}: {num_shifted} of the {len(widened)} spans that begin or "
            "end inside a word would match complete words if their offsets "
            "counted bytes, UTF-16 units, or a CR LF as one. Convert the "
            f"offsets to characters. The first span is {widened[0]}"
        )
    if widened:
        logging.info(
            "%s: widened %d of %d spans to complete words, such as %s",
            *(path, len(widened), len(labels), widened[0]),
        )
    if 0 < num_unknown < num_texts:
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected",
            *(path, num_unknown, num_texts),
        )


def _fits_other_units(
    text: str, start: int, end: int, places: list[tuple[int, int]]
) -> bool:
    # Returns whether the span would consist of complete words if its offsets
    # counted UTF-16 units, bytes, or a CR LF as one.
    line_end = "\r\n" if "\r\n" in text else "\n"

    def find(index: int) -> Iterator[int]:
        units, data = text.encode("utf-16-le"), text.encode()
        yield len(units[: 2 * index].decode("utf-16-le", "ignore"))
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
    row: Any, where: str, needs_spans: bool
) -> tuple[str, list[Any] | None]:
    # Returns (text, spans) of an entry of the file. The spans are None if the
    # text was not annotated or was rejected.
    if not isinstance(row, dict):
        row = {}
    if isinstance(row.get("data"), dict) and "text" not in row:
        row = _from_label_studio(row, where)

    def has_spans(key: str) -> bool:
        return isinstance(row[key], list) and any(map(_parse, row[key][:1]))

    # Prefer a key whose value contains spans, because tools may also write
    # empty lists, or values of other kinds, under other keys of _SPANS.
    keys = [key for key in _SPANS if key in row]
    text, found = row.get("text"), row.get(max(keys, key=has_spans, default=""))
    if not isinstance(text, str) or (needs_spans and not keys):
        raise ValueError(
            f"{where}: found the keys {', '.join(row) or 'of no object'}. An "
            f"entry contains `text`, and spans as {', '.join(_SPANS)}, or is "
            "Label Studio's. Words with tags belong in columns (.txt)"
        )
    if row.get("answer") in ("reject", "ignore"):
        found = None
    return text, found if isinstance(found, list | None) else [found]


def _from_label_studio(task: dict[str, Any], where: str) -> dict[str, Any]:
    # Converts a task of Label Studio's export to {"text", "entities"}. The
    # entities are None if the text was not annotated.
    every = task.get("annotations") or []
    done = [each for each in every if not each.get("was_cancelled")]
    done = [each for each in done if each.get("ground_truth")] or done
    # Skip results of other kinds, such as a text's class.
    found = [
        [
            part["value"]
            for part in each["result"]
            if {"labels", "hypertextlabels"} & part.get("value", {}).keys()
        ]
        for each in done
    ]
    if len({frozenset(map(_parse, each)) for each in found}) > 1:
        raise ValueError(
            f"{where}: the {len(done)} annotations of this text differ; keep "
            "only one of them, or mark one as ground truth in Label Studio"
        )
    texts = [each for each in task["data"].values() if isinstance(each, str)]
    data = {"text": texts[0]} if len(texts) == 1 else {}
    return data | task["data"] | {"entities": found[0] if found else None}


def _parse(value: Any) -> Span | None:
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


def _read_span(value: Any, text: str, where: str) -> Span:
    span = _parse(value)
    start, end, _ = span or (0, 0, "")
    own = value.get("text") if isinstance(value, dict) else None
    # Label Studio changes white space in the texts that it records for spans.
    words = own.replace("\\n", "\n").split() if isinstance(own, str) else None
    found = text[start:end]
    is_inside = 0 <= start < end <= len(text)
    if span is None or not is_inside or words not in (None, found.split()):
        raise ValueError(
            f"{where}: the span {repr(value)[:120]} does not fit the text of "
            f"{len(text)} characters, {text[:80]!r}, where it is {found!r}. "
            'A span is [start, end, label] or {"start", "end", "label"}. '
            "Positions count code points, and the end is exclusive"
        )
    return span
