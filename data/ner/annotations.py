"""Finds the spans, or the tags, in a row of an annotation tool's file.

docs/named_entities.md shows the forms of the tools.
"""

from collections.abc import Sequence

from data.ner.scoring import find_entities, to_scheme
from data.ner.tag_names import is_tag
from data.ner.words import find_words
from data.tables.column_names import SPANS, TAG_LISTS, WORD_LISTS
from files.json_files import JsonObject
from modeling.labels import is_label

# Keys that run_ner.py's dev_predictions.jsonl adds to a row.
_ANSWERS = (
    "guid",
    "predicted_labels",
    "predicted_entities",
    "probabilities",
    "correct",
)
# A part of a text: (first character, character after the last one, label).
Span = tuple[int, int, str]
# A sentence: (its words, their tags, its text or None).
Sentence = tuple[list[str], list[str], str | None]


def without_answers(row: JsonObject) -> JsonObject:
    """Returns a row without what a model answered for it."""
    if "predicted_entities" not in row:
        return row
    return {name: row[name] for name in row if name not in _ANSWERS}


def find_sentence(
    row: JsonObject, where: str, needs_tags: bool
) -> Sentence | None:
    """Returns the words and tags of a row, or None if it is no such row.

    Args:
        row: the row.
        where: place of the row, for messages.
        needs_tags: False if a row may lack its tags. They are then O.

    Raises:
        ValueError: there are more or fewer tags than words, or the tags
            contradict the row's text, spans or other tags.
    """
    text = row.get("text")
    if not isinstance(text, str):
        text = None
    key = _find_words(row, text)
    if key is None:
        return None
    words: list[str] = row[key]
    with_spans = any(has_spans(row.get(name)) for name in SPANS)
    names = _find_tags(row, words, with_spans)
    if not names:
        return None if needs_tags or text else (words, ["O"] * len(words), None)
    tags = [str(tag) for tag in row[names[0]]]
    if len(tags) != len(words):
        if with_spans:
            return None
        raise ValueError(
            f"{where}: `{key}` contains {len(words)} words, but `{names[0]}` "
            f"{len(tags)} tags"
        )
    _compare_tags(row, where, names, words)
    if text is not None:
        _compare(row, where, names[0], (words, tags, text))
    return words, tags, text


def _find_words(row: JsonObject, text: str | None) -> str | None:
    """Returns the name of the words, None if a row has none."""
    for name in WORD_LISTS:
        # spaCy writes `tokens`: [] beside a text.
        if _are(row.get(name), str) and (row[name] or text is None):
            return name
    return None


def _find_tags(
    row: JsonObject, words: Sequence[str], with_spans: bool
) -> list[str]:
    """Returns the names of lists of tags.

    Those of the words' length are first.
    """
    names = [name for name in TAG_LISTS if _are(row.get(name), str, int)]
    # An empty list is spans. Beside spans, a list may be a text's classes.
    names = [name for name in names if row[name] or not words]
    if with_spans:
        names = [x for x in names if all(is_tag(str(tag)) for tag in row[x])]
    return sorted(names, key=lambda name: len(row[name]) != len(words))


def _compare_tags(
    row: JsonObject, where: str, names: Sequence[str], words: Sequence[str]
) -> None:
    """Raises a ValueError if two lists of tags contradict each other.

    The hub's `ner_tags` may be beside tags of other tasks.
    """
    first, *others = names
    if first == "ner_tags":
        return
    for name in others:
        if len(row[name]) == len(words) and row[name] != row[first]:
            tags = [str(tag) for tag in row[first]]
            raise _contradict(where, first, tags, name, row[name])


def _are(values: object, *types: type) -> bool:
    """Returns whether a JSON value is a list of values of these types."""
    return isinstance(values, list) and all(type(x) in types for x in values)


def _compare(
    row: JsonObject, where: str, name: str, sentence: Sentence
) -> None:
    """Raises a ValueError if tags contradict a row's text or its spans.

    The tags are those with the name `name`.
    """
    words, tags, text = sentence
    text = text or ""
    try:
        word_spans = find_words(text, words)
    except ValueError:
        raise _contradict(where, "words", words, "text", text) from None
    if any(tag.isdigit() for tag in tags):
        return
    # The tags of adjacent entities can be read in two ways.
    readings = [
        {
            (word_spans[i][0], word_spans[j - 1][1], entity_type)
            for entity_type, i, j in find_entities(each)
        }
        for each in (tags, to_scheme(tags))
    ]
    for other in _keys_of_spans(row, where):
        if other == name or not _is_list_of_spans(row.get(other)):
            continue
        if {parse(value) for value in row[other]} not in readings:
            raise _contradict(where, name, tags, other, row[other])


def _contradict(
    where: str, name: str, value: object, other: str, other_value: object
) -> ValueError:
    return ValueError(
        f"{where}: `{name}` and `{other}` contradict each other: "
        f"{repr(value)[:200]} and {repr(other_value)[:200]}. Remove the one "
        "that is wrong"
    )


def find_spans(
    row: JsonObject, where: str, needs_spans: bool
) -> tuple[str, list[object] | None]:
    """Returns the text and the spans of a row.

    The text is empty if it is null. The spans are None if the text was not
    annotated or was rejected.

    Args:
        row: the row, {} if it is no object.
        where: place of the row, for messages.
        needs_spans: False if the row may lack a key for spans.

    Raises:
        ValueError: the row lacks a text or spans, or two keys contain spans
            that differ.
    """
    is_task = "annotations" in row or "text" not in row
    if isinstance(row.get("data"), dict) and is_task:
        row = _from_label_studio(row, where)

    keys = _keys_of_spans(row, where)
    values = row[keys[0]] if keys else None
    text = row.get("text", 0)
    if text is None or (isinstance(text, str) and not text.strip()):
        return text or "", None
    if not isinstance(text, str) or (needs_spans and not keys):
        raise ValueError(
            f"{where}: found the keys {', '.join(row) or 'of no object'}. An "
            f"entry is Label Studio's, or has `text` and spans as "
            f"{', '.join(SPANS)}, or words as {', '.join(WORD_LISTS)} and tags "
            f"as {', '.join(TAG_LISTS)}"
        )
    if row.get("answer") in ("reject", "ignore"):
        values = None
    return text, values if isinstance(values, list | None) else [values]


def _keys_of_spans(row: JsonObject, where: str) -> list[str]:
    """Returns the keys of `SPANS` in a row.

    The first one contains spans, if any does, because tools may also write
    values of other kinds under others. Raises a ValueError if two keys contain
    spans that differ.
    """
    keys = [key for key in SPANS if key in row]
    keys.sort(key=lambda key: not has_spans(row[key]))
    if not keys or not has_spans(row[keys[0]]):
        return keys
    first = row[keys[0]]
    for key in keys[1:]:
        # spaCy writes an empty list beside its `ents`.
        is_empty = not row[key] and "ents" in row
        if is_empty or not _is_list_of_spans(row[key]):
            continue
        if {*map(parse, row[key])} != {*map(parse, first)}:
            raise _contradict(where, keys[0], first, key, row[key])
    return keys


def has_spans(value: object) -> bool:
    """Returns whether a JSON value is a list that begins with a span."""
    return isinstance(value, list) and any(map(parse, value[:1]))


def _is_list_of_spans(value: object) -> bool:
    return value == [] or has_spans(value)


def _from_label_studio(task: JsonObject, where: str) -> JsonObject:
    """Converts a task of Label Studio's export to {"text", "entities"}.

    The entities are None if the text was not annotated.
    """
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
    if len({frozenset(map(parse, each)) for each in spans}) > 1:
        raise ValueError(
            f"{where}: the {len(done)} annotations of this text differ; keep "
            "only one of them, or mark one as ground truth in Label Studio"
        )
    texts = [each for each in task["data"].values() if isinstance(each, str)]
    data = {"text": texts[0]} if len(texts) == 1 else {}
    # A task's data may contain the answers of a model, which the annotation
    # corrects.
    data |= {k: v for k, v in task["data"].items() if k not in SPANS}
    if "text" in task:
        data.setdefault("text", task["text"])
    return data | {"entities": spans[0] if spans else None}


def parse(value: object) -> Span | None:
    """Returns the span that a JSON value is, or None if it is no span."""
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


def read_span(value: object, text: str, where: str) -> Span:
    """Returns a span. Raises a ValueError if it does not fit the text."""
    span = parse(value)
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
