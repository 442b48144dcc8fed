"""Finds the spans, or the tags, in a row of an annotation tool's file.

docs/named_entities.md shows the formats of the tools.
"""

from collections.abc import Sequence
from typing import NamedTuple

from data.ner.entity_scoring import find_entities, to_scheme
from data.ner.tag_names import is_tag
from data.ner.word_splitting import find_words
from data.tables import prodigy
from data.tables.column_names import SPAN_NAMES, TAG_LIST_NAMES, WORD_LIST_NAMES
from files.json_files import JsonObject
from model_folders.labels import is_label

# Keys that run_ner.py's dev_predictions.jsonl adds to a row.
_KEYS_OF_ANSWERS = (
    "guid",
    "predicted_labels",
    "predicted_entities",
    "probabilities",
    "correct",
)


class LabeledSpan(NamedTuple):
    """A named entity in a text.

    Attributes:
        start: index of the first character.
        end: index after the last character.
        label: type of the entity.
    """

    start: int
    end: int
    label: str


class TaggedSentence(NamedTuple):
    """The words of a sentence, their tags, and its text if a row has one."""

    words: list[str]
    tags: list[str]
    text: str | None


class AnnotatedText(NamedTuple):
    """A text, and the spans that a tool marked in it.

    Attributes:
        text: the text, "" if it is null.
        spans: the spans as the tool writes them, None if the text was not
            annotated or was rejected.
    """

    text: str
    spans: list[object] | None


def without_answers(row: JsonObject) -> JsonObject:
    """Returns a row without what a model answered for it."""
    if "predicted_entities" not in row:
        return row
    return {name: row[name] for name in row if name not in _KEYS_OF_ANSWERS}


def find_sentence(
    row: JsonObject, where: str, needs_tags: bool
) -> TaggedSentence | None:
    """Returns the words and tags of a row, or None if it is no such row.

    Examples:
        >>> row = {"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}
        >>> find_sentence(row, "line 1", needs_tags=True)
        TaggedSentence(words=['Ann', 'left'], tags=['B-PER', 'O'], text=None)

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
    word_key = _find_word_key(row, text)
    if word_key is None:
        return None
    words: list[str] = row[word_key]
    has_any_span = any(has_spans(row.get(key)) for key in SPAN_NAMES)
    tag_keys = _find_tag_keys(row, words, has_any_span)
    if not tag_keys:
        if needs_tags or text:
            return None
        return TaggedSentence(words, ["O"] * len(words), None)
    tags = [str(tag) for tag in row[tag_keys[0]]]
    if len(tags) != len(words):
        if has_any_span:
            return None
        raise ValueError(
            f"{where}: `{word_key}` contains {len(words)} words, but "
            f"`{tag_keys[0]}` {len(tags)} tags"
        )
    _check_other_tags(row, where, tag_keys, words)
    sentence = TaggedSentence(words, tags, text)
    _check_text_and_spans(row, where, tag_keys[0], sentence)
    return sentence


def _find_word_key(row: JsonObject, text: str | None) -> str | None:
    """Returns the key of a row's words, None if it has none."""
    for key in WORD_LIST_NAMES:
        # spaCy writes `tokens`: [] beside a text.
        if _is_list_of(row.get(key), str) and (row[key] or text is None):
            return key
    return None


def _find_tag_keys(
    row: JsonObject, words: Sequence[str], has_any_span: bool
) -> list[str]:
    """Returns the keys of a row's lists of tags.

    Lists with as many tags as there are words come first.
    """
    keys = [
        key for key in TAG_LIST_NAMES if _is_list_of(row.get(key), str, int)
    ]
    # An empty list is spans. Beside spans, a list may be a text's classes.
    keys = [key for key in keys if row[key] or not words]
    if has_any_span:
        keys = [
            key for key in keys if all(is_tag(str(tag)) for tag in row[key])
        ]
    return sorted(keys, key=lambda key: len(row[key]) != len(words))


def _check_other_tags(
    row: JsonObject, where: str, tag_keys: Sequence[str], words: Sequence[str]
) -> None:
    """Raises a ValueError if two lists of tags contradict each other.

    The hub's `ner_tags` may be beside tags of other tasks.
    """
    first, *others = tag_keys
    if first == "ner_tags":
        return
    for key in others:
        if len(row[key]) == len(words) and row[key] != row[first]:
            tags = [str(tag) for tag in row[first]]
            raise _contradiction_error(where, first, tags, key, row[key])


def _is_list_of(values: object, *types: type) -> bool:
    """Returns whether a JSON value is a list of values of these types."""
    return isinstance(values, list) and all(
        type(value) in types for value in values
    )


def _check_text_and_spans(
    row: JsonObject, where: str, tag_key: str, sentence: TaggedSentence
) -> None:
    """Raises a ValueError if words or tags contradict a row's text or spans.

    `sentence` was read from the row, its tags from the entry `tag_key`. Without
    a text, there is nothing to check.
    """
    words, tags, text = sentence
    if text is None:
        return
    try:
        word_spans = find_words(text, words)
    except ValueError:
        raise _contradiction_error(
            where, "words", words, "text", text
        ) from None
    if any(tag.isdigit() for tag in tags):
        return
    # The tags of adjacent entities can be read in two ways.
    readings = [
        {
            (word_spans[start][0], word_spans[end - 1][1], entity_type)
            for entity_type, start, end in find_entities(read_tags)
        }
        for read_tags in (tags, to_scheme(tags))
    ]
    for key in _find_span_keys(row, where):
        if key == tag_key or not _is_list_of_spans(row.get(key)):
            continue
        if {parse_span(value) for value in row[key]} not in readings:
            raise _contradiction_error(where, tag_key, tags, key, row[key])


def _contradiction_error(
    where: str, key: str, value: object, other_key: str, other_value: object
) -> ValueError:
    return ValueError(
        f"{where}: `{key}` and `{other_key}` contradict each other: "
        f"{repr(value)[:200]} and {repr(other_value)[:200]}. Remove the one "
        "that is wrong"
    )


def find_text_and_spans(
    row: JsonObject, where: str, needs_spans: bool
) -> AnnotatedText:
    """Returns the text and the spans of a row.

    Examples:
        >>> row = {"text": "Ann left", "entities": [[0, 3, "PER"]]}
        >>> find_text_and_spans(row, "line 1", needs_spans=True)
        AnnotatedText(text='Ann left', spans=[[0, 3, 'PER']])

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

    keys = _find_span_keys(row, where)
    values = row[keys[0]] if keys else None
    text = row.get("text")
    if "text" in row and text is None:
        return AnnotatedText("", None)
    if isinstance(text, str) and not text.strip():
        return AnnotatedText(text, None)
    if not isinstance(text, str) or (needs_spans and not keys):
        raise ValueError(
            f"{where}: found the keys {', '.join(row) or 'of no object'}. An "
            f"entry is Label Studio's, or has `text` and spans as "
            f"{', '.join(SPAN_NAMES)}, or words as "
            f"{', '.join(WORD_LIST_NAMES)} and tags as "
            f"{', '.join(TAG_LIST_NAMES)}"
        )
    if prodigy.is_left_out(row):
        values = None
    spans = values if isinstance(values, list | None) else [values]
    return AnnotatedText(text, spans)


def _find_span_keys(row: JsonObject, where: str) -> list[str]:
    """Returns the keys of spans in a row, a key that contains spans first.

    Tools may write values of other kinds under the other keys. For example,
    `entities` is first in {"label": "news", "entities": [[0, 3, "PER"]]}.
    Raises a ValueError if two keys contain spans that differ.
    """
    keys = [key for key in SPAN_NAMES if key in row]
    keys.sort(key=lambda key: not has_spans(row[key]))
    if not keys or not has_spans(row[keys[0]]):
        return keys
    first = row[keys[0]]
    for key in keys[1:]:
        # spaCy writes an empty list beside its `ents`.
        is_empty = not row[key] and "ents" in row
        if is_empty or not _is_list_of_spans(row[key]):
            continue
        if {*map(parse_span, row[key])} != {*map(parse_span, first)}:
            raise _contradiction_error(where, keys[0], first, key, row[key])
    return keys


def has_spans(value: object) -> bool:
    """Returns whether a JSON value is a list that begins with a span."""
    return isinstance(value, list) and any(map(parse_span, value[:1]))


def _is_list_of_spans(value: object) -> bool:
    return value == [] or has_spans(value)


def _from_label_studio(task: JsonObject, where: str) -> JsonObject:
    """Converts a task of Label Studio's export to {"text", "entities"}.

    The entities are None if the text was not annotated.
    """
    annotations = _select_finished_annotations(task)
    spans = [*map(_spans_of_annotation, annotations)]
    if len({frozenset(map(parse_span, values)) for values in spans}) > 1:
        raise ValueError(
            f"{where}: the {len(spans)} annotations of this text differ; keep "
            "only one of them, or mark one as ground truth in Label Studio"
        )
    data = task["data"]
    texts = [value for value in data.values() if isinstance(value, str)]
    row = {"text": texts[0]} if len(texts) == 1 else {}
    # A task's data may contain the answers of a model, which the annotation
    # corrects.
    row |= {key: data[key] for key in data if key not in SPAN_NAMES}
    if "text" in task:
        row.setdefault("text", task["text"])
    return row | {"entities": spans[0] if spans else None}


def _select_finished_annotations(task: JsonObject) -> list[JsonObject]:
    """Returns the annotations of a task, only the ground truth if it has one.

    Cancelled annotations are left out.
    """
    annotations = [
        annotation
        for annotation in task.get("annotations") or []
        if not annotation.get("was_cancelled")
    ]
    ground_truth = [
        annotation
        for annotation in annotations
        if annotation.get("ground_truth")
    ]
    return ground_truth or annotations


def _spans_of_annotation(annotation: JsonObject) -> list[JsonObject]:
    """Returns the spans of Label Studio's annotation, as it writes them."""
    # Skip results of other kinds, such as a text's class.
    return [
        result["value"]
        for result in annotation.get("result") or []
        if {"labels", "hypertextlabels"} & result.get("value", {}).keys()
    ]


def parse_span(value: object) -> LabeledSpan | None:
    """Converts the JSON value of a span. Returns None if it is no span.

    Examples:
        >>> parse_span([0, 3, "PER"])
        LabeledSpan(start=0, end=3, label='PER')
        >>> parse_span({"start_offset": 0, "end_offset": 3, "label": "PER"})
        LabeledSpan(start=0, end=3, label='PER')
    """
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
    # No isinstance: true is no position.
    are_positions = type(start) is int and type(end) is int
    if not are_positions or not is_label(label):
        return None
    return LabeledSpan(start, end, label)


def read_span(value: object, text: str, where: str) -> LabeledSpan:
    """Returns a span. Raises a ValueError if it does not fit the text."""
    span = parse_span(value)
    start, end, _ = span or (0, 0, "")
    span_text = value.get("text") if isinstance(value, dict) else None
    words = None
    if isinstance(span_text, str):
        # Label Studio changes white space in the texts of spans.
        words = span_text.replace("\\n", "\n").split()
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
