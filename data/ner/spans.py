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
from files.labels import is_label
from files.paths import StrPath

# Keys under which files store a text's spans. If an entry contains several of
# these keys, the first one with spans is read. doccano and Label Studio's
# shorter export write `label`, or `labels` in older versions.
_SPANS = ("entities", "spans", "ents", "label", "labels")
# Keys under which a span that is an object stores its start, end and label.
_PARTS = (
    ("start", "start_offset"),
    ("end", "end_offset"),
    ("label", "type", "labels", "hypertextlabels"),
)

# A part of a text: (first character, character after the last one, label).
Span = tuple[int, int, str]


def read(path: StrPath, needs_spans: bool) -> Iterator[tuple[str, NerExample]]:
    """Yields the annotated texts of a file of JSON lines or of one JSON list.

    Yields (where, example). `where` names the file and the line, or the entry
    of the list, for error messages. The tags of the example's words are in the
    scheme IOB2.

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
    num_spans = num_texts = num_unknown = num_shifted = 0
    labels: set[str] = set()
    widened: list[str] = []
    for where, record in _read_entries(path):
        text, spans = _read_record(record, where, needs_spans)
        num_texts += 1
        num_unknown += spans is None
        if spans is None and needs_spans:
            continue
        words = split_words(text)
        places, tags = find_words(text, words), ["O"] * len(words)
        for start, end, label in sorted({*(spans or ())}):
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
            num_spans += 1
            labels.add(label)
            complete = text[places[first][0] : places[after - 1][1]]
            if complete != text[start:end].strip():
                widened.append(f"{shown} to {complete!r}")
                num_shifted += _fits_other_units(text, start, end, places)
        yield where, NerExample("", words, tags, num_texts, text)
    if found := [x for x in labels if x[:2] == "B-" and f"I{x[1:]}" in labels]:
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
            *(path, len(widened), num_spans, widened[0]),
        )
    if num_unknown and (needs_spans or num_unknown < num_texts):
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected. They %s",
            *(path, num_unknown, num_texts),
            "are skipped" if needs_spans else "count as texts without entities",
        )


def _fits_other_units(
    text: str, start: int, end: int, places: list[tuple[int, int]]
) -> bool:
    # Returns whether the span would consist of complete words if its offsets
    # counted UTF-16 units, bytes, or a CR LF as one.
    def find(index: int) -> tuple[int, ...]:
        units, data = text.encode("utf-16-le"), text.encode()
        lines = text.replace("\r\n", "\n")[:index].count("\n")
        return (
            len(units[: 2 * index].decode("utf-16-le", "ignore")),
            len(data[:index].decode("utf-8", "ignore")),
            index + lines * ("\r\n" in text),
        )

    starts, ends = zip(*places, strict=True)
    return any(
        first != start and first in starts and last in ends
        for first, last in zip(find(start), find(end), strict=True)
    )


def _read_entries(path: StrPath) -> Iterator[tuple[str, Any]]:
    # Yields (place in the file, parsed JSON value) of each text in a file. Only
    # a .json file can contain one list of texts, instead of a text in a line.
    lines = [each for each in text_files.read_numbered(path) if each[1].strip()]
    is_list = bool(lines) and lines[0][1].lstrip().startswith("[")
    if is_list and str(path).removesuffix(".gz").endswith(".json"):
        text = "\n".join(line for _, line in lines)
        for number, record in enumerate(parse_json(text, str(path), list), 1):
            yield f"{path}, entry {number}", record
        return
    for number, line in lines:
        where = f"{path}, line {number}"
        yield where, parse_json(line, where, object)


def _read_record(
    record: Any, where: str, needs_spans: bool
) -> tuple[str, list[Span] | None]:
    # Returns (text, spans) of an entry of the file. The spans are None if the
    # text was not annotated or was rejected.
    if isinstance(record, list) and [*map(type, record)] == [str, dict]:
        record = {**record[1], "text": record[0]}  # spaCy's training data
    if not isinstance(record, dict):
        record = {}
    if isinstance(record.get("data"), dict) and "text" not in record:
        record = _from_label_studio(record, where)
    # Prefer a key whose value contains spans, because tools may also write
    # empty lists, or values of other kinds, under other keys of _SPANS.
    keys = [key for key in _SPANS if key in record]
    key = max(keys, key=lambda key: _has_spans(record[key]), default="")
    text, found = record.get("text"), record.get(key)
    if not isinstance(text, str) or (needs_spans and not keys):
        raise ValueError(
            f"{where}: found the keys {', '.join(record) or 'of no object'}. "
            "An entry contains `text` and its spans, under one of the keys "
            f"{', '.join(_SPANS)}, or is Label Studio's. Words with tags "
            "belong in a file of columns (.txt)"
        )
    if found is None or record.get("answer") in ("reject", "ignore"):
        return text, None
    values = found if isinstance(found, list) else [found]
    return text, [_read_span(value, text, where) for value in values]


def _has_spans(value: Any) -> bool:
    # Returns whether a value is a list of spans that is not empty.
    return bool(value) and isinstance(value, list) and bool(_parse(value[0]))


def _from_label_studio(task: dict[str, Any], where: str) -> dict[str, Any]:
    # Converts a task of Label Studio's export to {"text", "entities"}. The
    # entities are None if the text was not annotated.
    done = [
        each
        for each in task.get("annotations") or []
        if not each.get("was_cancelled")
    ]
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
        value = [
            next((value[key] for key in keys if key in value), None)
            for keys in _PARTS
        ]
        if isinstance(value[2], list) and len(value[2]) == 1:
            value[2] = value[2][0]
    if not isinstance(value, list) or len(value) != 3:
        return None
    start, end, label = value
    is_span = type(start) is type(end) is int and is_label(label)
    return (start, end, label) if is_span else None


def _read_span(value: Any, text: str, where: str) -> Span:
    span = _parse(value)
    start, end, _ = span or (0, 1, "")
    own = value.get("text") if isinstance(value, dict) else None
    # Label Studio changes white space in the texts that it records for spans.
    words = own.replace("\\n", "\n").split() if isinstance(own, str) else None
    if span is None:
        problem = "has not two positions and exactly one label"
    elif not 0 <= start < end <= len(text):
        problem = f"is from {start} to {end} of {len(text)} characters"
    elif words not in (None, text[start:end].split()):
        problem = f"is the text {text[start:end]!r}"
    else:
        return span
    raise ValueError(
        f"{where}: the span {repr(value)[:120]} {problem}. A span is "
        '[start, end, label] or {"start", "end", "label"}. Positions count '
        "characters (code points, not bytes or UTF-16 units), and the end is "
        f"exclusive. Text: {text[:80]!r}"
    )
