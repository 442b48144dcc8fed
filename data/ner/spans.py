"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

An entity is [start, end, label]. The positions count characters (code points),
and the end is exclusive. The module also reads the files of doccano, spaCy,
Prodigy and Label Studio. docs/named_entities.md shows their formats.
"""

import bisect
import itertools
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from absl import logging

from data.io import text_files
from data.ner.words import find_words, split_words
from files import json_files
from files.labels import label_problem
from files.paths import StrPath

# Keys under which files store a text's spans. If an entry contains several of
# these keys, the first one with spans is read. doccano and Label Studio's
# shorter export write `label`, or `labels` in older versions.
_SPANS = ("entities", "spans", "ents", "label", "labels")
_STARTS, _ENDS = ("start", "start_offset"), ("end", "end_offset")
_LABELS = ("label", "type", "labels", "hypertextlabels")
# Maximum number of spans to test whether their offsets count other units than
# characters.
_MAX_SHIFTED = 100
_FORM = '[start, end, label] or {"start", "end", "label"}'


class Span(NamedTuple):
    """An annotated part of a text, from character `start` to `end` - 1."""

    start: int
    end: int
    label: str


def read(
    path: StrPath, needs_spans: bool
) -> Iterator[tuple[str, str, list[tuple[int, int]], list[str]]]:
    """Yields the annotated texts of a file of JSON lines or of one JSON list.

    Yields (where, text, places, tags). `where` names the file and the line, or
    the entry of the list, for error messages. `places` are (start, end) of each
    word in the text, in characters, where `end` is exclusive. `tags` are the
    words' tags in the scheme IOB2.

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
    widened: list[tuple[str, str]] = []
    for where, record in _read_records(path):
        text, spans = _read_record(record, where, needs_spans)
        num_texts += 1
        num_unknown += spans is None
        if spans is None and needs_spans:
            continue
        spans = sorted({*(spans or ())})
        num_spans += len(spans)
        labels |= {span.label for span in spans}
        places = find_words(text, split_words(text))
        tags, wide_spans = _tag_words(text, spans, places, where)
        for span, wide in zip(spans, wide_spans, strict=True):
            if wide != span:
                widened.append((_show(text, span), _show(text, wide)))
                if len(widened) <= _MAX_SHIFTED:
                    num_shifted += _fits_other_units(text, span, places)
        yield where, text, places, tags
    if found := [x for x in labels if x[:2] == "B-" and f"I{x[1:]}" in labels]:
        raise ValueError(
            f"{path}: the labels of spans are tags of words, such as "
            f"{found[0]!r}. Set one span for each entity, labeled with its type"
        )
    num_cut = min(len(widened), _MAX_SHIFTED)
    if num_shifted > max(2, num_cut // 3):
        raise ValueError(
            f"{path}: {num_shifted} of the {num_cut} spans that begin or end "
            f"inside a word, such as {widened[0][0]}, would match complete "
            "words if their offsets counted bytes, UTF-16 units, or a CR LF as "
            "one. Convert the offsets to characters"
        )
    if widened:
        logging.info(
            "%s: widened %d of %d spans to complete words, such as %s to %s",
            *(path, len(widened), num_spans, *widened[0]),
        )
    if num_unknown and (needs_spans or num_unknown < num_texts):
        logging.warning(
            "%s: %d of %d texts were not annotated, or were rejected. They %s",
            *(path, num_unknown, num_texts),
            "are skipped" if needs_spans else "count as texts without entities",
        )


def _tag_words(
    text: str, spans: list[Span], places: list[tuple[int, int]], where: str
) -> tuple[list[str], list[Span]]:
    # Returns the words' tags, and the spans widened to complete words. `places`
    # are (start, end) of each word, and the spans are sorted.
    starts, ends = zip(*places, strict=True) if places else ((), ())
    tags = ["O"] * len(places)
    wide_spans: list[Span] = []
    for span in spans:
        first = bisect.bisect_right(ends, span.start)
        after = bisect.bisect_left(starts, span.end)
        if first >= after:
            raise ValueError(
                f"{where}: the span {_show(text, span)} contains no word. "
                f"Text: {text[:80]!r}"
            )
        if wide_spans and starts[first] < wide_spans[-1].end:
            raise ValueError(
                f"{where}: the spans {_show(text, wide_spans[-1])} and "
                f"{_show(text, span)} overlap or contain the same word. Remove "
                f"one of them. Text: {text[:80]!r}"
            )
        wide_spans.append(Span(starts[first], ends[after - 1], span.label))
        tags[first:after] = [f"I-{span.label}"] * (after - first)
        tags[first] = f"B-{span.label}"
    return tags, wide_spans


def _fits_other_units(
    text: str, span: Span, places: list[tuple[int, int]]
) -> bool:
    # Returns whether the span would consist of complete words if its offsets
    # counted other units than characters. A unit is represented by the index of
    # its character.
    starts, ends = zip(*places, strict=True)
    chars = [*enumerate(text)]
    for units in (
        [i for i, char in chars for _ in char.encode("utf-16-le")][::2],
        [i for i, char in chars for _ in char.encode()],
        [i for i, _ in chars if text[i : i + 2] != "\r\n"],
    ):
        if span.end <= len(units) and units[span.start] != span.start:
            start, end = units[span.start], units[span.end - 1] + 1
            if start in starts and end in ends:
                return True
    return False


def _show(text: str, span: Span) -> str:
    return f"{[*span]} {text[span.start : span.end]!r}"


def _read_records(path: StrPath) -> Iterator[tuple[str, Any]]:
    # Yields (place in the file, parsed JSON value) of each text in a file.
    with text_files.open_binary(path) as file:
        lines = ((n, line) for n, line in enumerate(file, 1) if line.strip())
        first_number, head = next(lines, (1, b""))
        text_files.check_first_line(head + b"\n", path)
        try:
            first = json_files.parse_json(head, "", object)
        except ValueError:
            # The line is the first of a list that spans several lines, or is
            # malformed. In a .jsonl file, it can only be malformed.
            name = os.fspath(path).removesuffix(".gz")
            first = {} if name.endswith(".jsonl") else []
        # The file contains JSON lines if its first line is not a list, or is a
        # list that begins with a string, which is spaCy's ["text", {...}].
        if not isinstance(first, list) or [*map(type, first[:1])] == [str]:
            for number, line in itertools.chain([(first_number, head)], lines):
                where = f"{path}, line {number}"
                yield where, json_files.parse_json(line, where, object)
            return
        data = b"\n" * (first_number - 1) + head + file.read()
    records = json_files.parse_json(data, os.fspath(path), list)
    for number, record in enumerate(records, start=1):
        yield f"{path}, entry {number}", record


def _read_record(
    record: Any, where: str, needs_spans: bool
) -> tuple[str, list[Span] | None]:
    # Returns (text, spans) of an entry of the file. The spans are None if the
    # text was not annotated or was rejected.
    if isinstance(record, list) and [*map(type, record)] == [str, dict]:
        record = {**record[1], "text": record[0]}
    if not isinstance(record, dict):
        raise ValueError(
            f'{where}: an entry must contain "text" and "entities". Received: '
            f"{repr(record)[:80]}"
        )
    is_rejected = record.get("answer") in ("reject", "ignore")
    if "data" in record and "text" not in record:
        record = _read_label_studio(record, where)
    text = record.get("text")
    # Prefer a key whose value contains spans, because tools may also write
    # empty lists, or values of other kinds, under other keys of _SPANS.
    keys = [name for name in _SPANS if name in record]
    keys.sort(key=lambda name: not _has_spans(record[name]))
    key = keys[0] if keys else None
    if not isinstance(text, str) or (key is None and needs_spans):
        raise ValueError(
            f"{where}: found the keys {', '.join(record)}. An entry contains "
            f"`text` and its spans, under one of the keys {', '.join(_SPANS)}, "
            "or is Label Studio's. Words with tags belong in a file of columns "
            "(.txt)"
        )
    found = record.get(key or "")
    if is_rejected or found is None:
        return text, None
    if not isinstance(found, list):
        raise ValueError(
            f"{where}: `{key}` must be a list of {_FORM}. Received: "
            f"{repr(found)[:80]}"
        )
    return text, [_read_span(value, text, where) for value in found]


def _has_spans(value: Any) -> bool:
    # Returns whether a value seems to be a list of spans that is not empty.
    first = value[0] if isinstance(value, list) and value else None
    if isinstance(first, dict):
        return not first.keys().isdisjoint(_STARTS)
    return isinstance(first, list) and [*map(type, first)] == [int, int, str]


def _read_label_studio(record: dict[str, Any], where: str) -> dict[str, Any]:
    # Converts an entry of Label Studio's export to {"text", "entities"}. The
    # entities are None if the text was not annotated.
    texts = {k: v for k, v in record["data"].items() if isinstance(v, str)}
    if "text" not in texts and len(texts) != 1:
        raise ValueError(
            f"{where}: `data` must contain one text, or the key `text`. "
            f"Received keys: {', '.join(record['data'])}"
        )
    text = texts.get("text", next(iter(texts.values())))
    annotations = record.get("annotations") or []
    done = [each for each in annotations if not each.get("was_cancelled")]
    done = [each for each in done if each.get("ground_truth")] or done
    found = [
        [
            part["value"]
            for part in each["result"]
            # Skip results of other kinds, such as a text's class.
            if {"labels", "hypertextlabels"} & part.get("value", {}).keys()
        ]
        for each in done
    ]
    if (
        len({frozenset(_read_span(x, text, where) for x in y) for y in found})
        > 1
    ):
        raise ValueError(
            f"{where}: the {len(done)} annotations of this text differ; keep "
            "only one of them, or mark one as ground truth in Label Studio"
        )
    return {"text": text, "entities": found[0] if found else None}


def _read_span(value: Any, text: str, where: str) -> Span:
    # Converts a span in the file to a Span, without white space at its ends.
    start: Any = None
    end: Any = None
    label: Any = None
    own = None
    if isinstance(value, list) and len(value) == 3:
        start, end, label = value
    elif isinstance(value, dict):
        start, end, label = (
            next((value[name] for name in names if name in value), None)
            for names in (_STARTS, _ENDS, _LABELS)
        )
        own = value.get("text")
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
    if (type(start), type(end)) != (int, int) or label_problem(label):
        raise ValueError(
            f"{where}: a span must be {_FORM}: two character positions and "
            f"exactly one label. Received: {repr(value)[:120]}"
        )
    if not 0 <= start < end <= len(text):
        raise ValueError(
            f"{where}: the span {[start, end, label]} starts at {start} and "
            f"ends at {end} of {len(text)} characters. Text: {text[:80]!r}"
        )
    part = text[start:end]
    # Label Studio changes white space in the texts that it records for spans.
    if (
        isinstance(own, str)
        and part.split() != own.replace("\\n", "\n").split()
    ):
        raise ValueError(
            f"{where}: the span {[start, end, label]} covers {part[:80]!r}, "
            f"but the file records {own[:80]!r}. Positions must count "
            "characters (code points), with the end exclusive. Many tools "
            f"count UTF-16 units or bytes instead. Text: {text[:80]!r}"
        )
    start += len(part) - len(part.lstrip())
    return Span(start, start + len(part.strip()), label)
