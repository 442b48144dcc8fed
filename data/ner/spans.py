"""Reads texts with spans of named entities from files of annotation tools.

    {"text": "Anna left Oslo.", "entities": [[0, 4, "PER"], [10, 14, "LOC"]]}

Positions count characters (code points), with the end exclusive. The module
also reads the files of doccano (`label`), spaCy, Prodigy (`spans` of dicts) and
Label Studio (`data`, `annotations`), which docs/named_entities.md shows.
"""

import bisect
import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from absl import logging

from data.io import text_files
from data.ner.words import find_words
from files import json_files
from files.labels import label_problem
from files.paths import StrPath

# Keys under which files store a text's spans. The first key that exists counts.
# doccano and Label Studio's shorter export write `label`, or `labels` in older
# versions.
_SPANS = ("entities", "spans", "ents", "label", "labels")
_STARTS, _ENDS = ("start", "start_offset"), ("end", "end_offset")
_LABELS = ("label", "type", "labels", "hypertextlabels")
_FORM = '[start, end, label] or {"start", "end", "label"}'

Split = Callable[[str], list[str]]


class Span(NamedTuple):
    """An annotated part of a text, in characters, `end` exclusive."""

    start: int
    end: int
    label: str


class SpannedText(NamedTuple):
    """A text with tagged words.

    Attributes:
        where: file and line of the text, for messages.
        text: str, the text.
        places: list of (start, end), positions of the words in the text.
        tags: list of str, the words' tags in IOB2.
    """

    where: str
    text: str
    places: list[tuple[int, int]]
    tags: list[str]


def read(
    path: StrPath, split_words: Split, needs_spans: bool
) -> Iterator[SpannedText]:
    """Yields the texts of a file of JSON lines, or of one JSON list.

    A span that cuts a word is widened to the complete word. The function logs
    the number of widened spans, and of texts that are rejected or not
    annotated.

    Args:
        path: path of the file, in UTF-8.
        split_words: function that splits a text into a list of words.
        needs_spans: True to skip texts without an annotation, and to fail if
            the key of the spans is missing. False to treat both as texts
            without entities.

    Raises:
        OSError: the file cannot be read.
        ValueError: a text or a span is malformed, a span is outside its text,
            the file records another text for a span, or two spans overlap. The
            message names the line.
    """
    num_spans = num_texts = num_unknown = 0
    widened: list[tuple[str, str]] = []
    for where, record in _read_records(path):
        text, spans = _read_record(record, where, needs_spans)
        num_texts += 1
        num_unknown += spans is None
        if spans is None and needs_spans:
            continue
        try:
            places = find_words(text, split_words(text))
        except ValueError as error:
            # The function of --segmenter changed the text, or failed.
            raise ValueError(f"{where}: {error}") from error
        starts, ends = zip(*places, strict=True) if places else ((), ())
        tags = ["O"] * len(places)
        # The preceding span, and the index of the first word after that span.
        before, free = None, 0
        distinct = sorted({*(spans or ())})
        for span in distinct:
            first = bisect.bisect_right(ends, span.start)
            after = bisect.bisect_left(starts, span.end)
            if first >= after:
                raise ValueError(
                    f"{where}: the span {_show(text, span)} contains no word. "
                    f"Text: {text[:80]!r}"
                )
            if before and first < free:
                raise ValueError(
                    f"{where}: the spans {_show(text, before)} and "
                    f"{_show(text, span)} overlap or share a word. A word can "
                    f"only have one label, so remove a span. Text: "
                    f"{text[:80]!r}"
                )
            before, free = span, after
            wide = Span(starts[first], ends[after - 1], span.label)
            if wide != span:
                widened.append((_show(text, span), _show(text, wide)))
            tags[first:after] = [f"I-{span.label}"] * (after - first)
            tags[first] = f"B-{span.label}"
        num_spans += len(distinct)
        yield SpannedText(where, text, places, tags)
    if widened:
        logging.info(
            "%s: widened %d of %d spans that cut a word, such as %s to %s",
            *(path, len(widened), num_spans, *widened[0]),
        )
    if num_unknown and (needs_spans or num_unknown < num_texts):
        logging.warning(
            "%s: %d of %d texts have no annotation or a rejected one. They %s",
            *(path, num_unknown, num_texts),
            "are skipped" if needs_spans else "count as texts without entities",
        )


def _show(text: str, span: Span) -> str:
    return f"{[*span]} {text[span.start : span.end]!r}"


def _read_records(path: StrPath) -> Iterator[tuple[str, Any]]:
    """Yields (file and line, JSON value) of each text."""
    with text_files.open_binary(path) as file:
        lines = ((n, line) for n, line in enumerate(file, 1) if line.strip())
        head = next(lines, None)
        if head is None:
            raise ValueError(f"{path} contains no text")
        text_files.check_first_line(head[1] + b"\n", path)
        try:
            first = json_files.parse_json(head[1], "", object)
        except ValueError:
            # The line begins a list over several lines, or is damaged.
            name = os.fspath(path).removesuffix(".gz")
            first = {} if name.endswith(".jsonl") else []
        # A line may also be spaCy's ["text", {...}].
        if not isinstance(first, list) or [*map(type, first[:1])] == [str]:
            for number, line in itertools.chain([head], lines):
                where = f"{path}, line {number}"
                yield where, json_files.parse_json(line, where, object)
            return
        data = b"\n" * (head[0] - 1) + head[1] + file.read()
    records = json_files.parse_json(data, os.fspath(path), list)
    for number, record in enumerate(records, start=1):
        yield f"{path}, entry {number}", record


def _read_record(
    record: Any, where: str, needs_spans: bool
) -> tuple[str, list[Span] | None]:
    """Returns a record's text and spans, or None without an annotation."""
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
    try:
        if not isinstance(text, str):
            raise ValueError(f"Received: {repr(text)[:80]}")
        # Fail if the text contains half of a surrogate pair, which tools write
        # that cut an emoji.
        text.encode()
    except ValueError as error:
        raise ValueError(
            f"{where}: `text` must be a valid string. {error}"
        ) from error
    key = next((name for name in _SPANS if name in record), None)
    if key is None and needs_spans:
        raise ValueError(
            f"{where}: spans not found. The key of spans must be one of "
            f"{', '.join(_SPANS)}. Received keys: {', '.join(record)}"
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


def _read_label_studio(record: dict[str, Any], where: str) -> dict[str, Any]:
    """Returns {"text", "entities"} of a task of Label Studio's export.

    The entities are None if the task has no annotation.
    """
    data = record["data"] if isinstance(record["data"], dict) else {}
    texts = {k: v for k, v in data.items() if isinstance(v, str)}
    if "text" not in texts and len(texts) != 1:
        raise ValueError(
            f"{where}: `data` must contain one text, or the key `text`. "
            "Received: "
            f"{', '.join(data)}"
        )
    text = texts.get("text", next(iter(texts.values())))
    done = [
        each
        for each in _dicts(record.get("annotations"))
        if not each.get("was_cancelled")
    ]
    done = [each for each in done if each.get("ground_truth")] or done
    found = [
        [
            value
            for part in _dicts(each.get("result"))
            for value in _dicts([part.get("value")])
            # Skip other kinds of results, which are not spans of entities.
            if {"labels", "hypertextlabels"} & value.keys()
        ]
        for each in done
    ]
    distinct = {
        frozenset(_read_span(value, text, where) for value in values)
        for values in found
    }
    if len(distinct) > 1:
        raise ValueError(
            f"{where}: the {len(done)} annotations of this text differ; keep "
            "one of them, or mark one as ground truth"
        )
    return {"text": text, "entities": found[0] if found else None}


def _dicts(values: Any) -> list[dict[str, Any]]:
    """Returns the dicts in a list, or [] if the value is not a list."""
    values = values if isinstance(values, list) else []
    return [value for value in values if isinstance(value, dict)]


def _read_span(value: Any, text: str, where: str) -> Span:
    """Converts a value of the file to a Span without white space at its ends.

    Raises a ValueError if the value is malformed or does not fit the text.
    """
    own = None
    if isinstance(value, list) and len(value) == 3:
        start, end, label = value
    elif isinstance(value, dict):
        start, end, label = (
            next((value[name] for name in names if name in value), None)
            for names in (_STARTS, _ENDS, _LABELS)
        )
        own = value.get("text")
        own = own if isinstance(own, str) else None
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
    else:
        start = end = label = None
    problem = label_problem(label)
    if (type(start), type(end)) != (int, int) or problem:
        raise ValueError(
            f"{where}: a span must be {_FORM}, with positions that count "
            f"characters and one label. Received: {repr(value)[:120]}"
        )
    part = text[start:end]
    is_right = 0 <= start < end <= len(text)
    if is_right and own is not None:
        is_right = _is_same(own, part)
    if not is_right:
        expected = f", but {own[:80]!r} in the file" if own else ""
        raise ValueError(
            f"{where}: the span {[start, end, label]} is {part[:80]!r} in the "
            f"text of {len(text)} characters{expected}. "
            f"{_explain(text, start, end, own)}. Text: {text[:80]!r}"
        )
    start += len(part) - len(part.lstrip())
    return Span(start, start + len(part.strip()), label)


def _is_same(own: str, part: str) -> bool:
    """Compares texts, ignoring white space, which Label Studio changes."""
    own = own.replace("\\n", "\n")
    return own.split() == part.split()


def _explain(text: str, start: int, end: int, own: str | None) -> str:
    """Guesses in which unit the positions of a wrong span count."""
    units = text.encode("utf-16-le")[2 * start : 2 * end]
    if own and _is_same(own, units.decode("utf-16-le", "replace")):
        return (
            "Its positions are UTF-16 offsets, as JavaScript tools write them, "
            "which count an emoji twice; convert them to characters"
        )
    return (
        "Positions must count characters (code points), with the end "
        "exclusive; JavaScript tools write UTF-16 offsets, others bytes"
    )
