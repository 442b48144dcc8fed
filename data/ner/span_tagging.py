"""Tags the words of a text that its annotated spans cover, in IOB2.

A span that begins or ends inside a word is widened to the complete word.
"""

import bisect
from collections.abc import Collection, Sequence
from typing import NamedTuple

from data.ner.labeled_spans import LabeledSpan, read_span
from data.ner.span_units import SpanFit, find_span_fit
from data.ner.word_splitting import find_words
from files.paths import StrPath


class TaggedSpan(NamedTuple):
    """A span of a file, compared with the words of its text.

    Attributes:
        label: its label.
        fit: how it fits the words.
        widened: for messages, the span and the complete words to which it was
            widened, "" if it was not.
    """

    label: str
    fit: SpanFit
    widened: str


def tag_words(
    text: str, words: Sequence[str], values: Sequence[object], where: str
) -> tuple[list[str], list[TaggedSpan]]:
    """Returns the tags of a text's words, and the spans that they come from.

    Args:
        text: the text.
        words: the words of the text, in its order.
        values: JSON values of the spans.
        where: place of the text, for messages.

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
) -> TaggedSpan:
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
    fit = find_span_fit(text, span.start, span.end, where)
    if is_complete or is_confirmed:
        fit = fit._replace(is_start_wrong=False, is_end_wrong=False)
    widened = f"{_describe_span(span, text)} to {complete!r}"
    return TaggedSpan(span.label, fit, widened="" if is_complete else widened)


def _describe_span(span: LabeledSpan, text: str) -> str:
    return f"{[*span]} {text[span.start : span.end]!r}"


def check_span_labels(path: StrPath, labels: Collection[str]) -> None:
    """Checks that the spans of a file are entities, not single tagged words.

    Args:
        path: the file, for the message.
        labels: the labels of its spans.

    Raises:
        ValueError: the labels are tags of words, such as B-PER and I-PER.
    """
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
